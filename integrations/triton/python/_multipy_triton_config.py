"""A model's configuration: what is asked of it, and how auto_complete_config() changes it."""

import json


def _find(model_config, kind, name):
    return next((each for each in model_config.get(kind, ()) if each["name"] == name), None)


def get_input_config_by_name(model_config, name):
    """The properties of the input of that name, a dict; None without one."""
    return _find(model_config, "input", name)


def get_output_config_by_name(model_config, name):
    """The properties of the output of that name, a dict; None without one."""
    return _find(model_config, "output", name)


def using_decoupled_model_transaction_policy(model_config):
    """Whether the model may send any number of responses to a request."""
    return model_config.get("model_transaction_policy", {}).get("decoupled", False)


class ModelConfig:
    """What auto_complete_config() gets and returns.

    It can add what the configuration leaves open. What it says against the configuration is a
    ValueError, with the texts of Triton's Python backend.
    """

    def __init__(self, model_config):
        self._model_config = json.loads(model_config)

    def as_dict(self):
        return self._model_config

    def set_max_batch_size(self, max_batch_size):
        configured = self._model_config.get("max_batch_size", 0)
        if configured > max_batch_size:
            raise ValueError(
                f"configuration specified max_batch_size {configured}, but in "
                f"auto-complete-config function for model '{self._name()}' specified "
                f"max_batch_size {max_batch_size}"
            )
        self._model_config["max_batch_size"] = max_batch_size

    def set_dynamic_batching(self):
        for scheduler in ("sequence_batching", "ensemble_scheduling"):
            if scheduler in self._model_config:
                raise ValueError(
                    f"Configuration specified scheduling_choice as '{scheduler}', but "
                    f"auto-complete-config function for model '{self._name()}' tries to set "
                    "scheduling_choice as 'dynamic_batching'"
                )
        self._model_config.setdefault("dynamic_batching", {})

    def add_input(self, input):
        self._add("input", input, ("name", "data_type", "dims", "optional"))

    def add_output(self, output):
        self._add("output", output, ("name", "data_type", "dims"))

    def set_model_transaction_policy(self, transaction_policy_dict):
        for key in transaction_policy_dict:
            if key != "decoupled":
                raise ValueError(
                    "model transaction property in auto-complete-config function for model "
                    f"'{self._name()}' contains property other than 'decoupled'."
                )
        policy = self._model_config.setdefault("model_transaction_policy", {})
        if "decoupled" not in transaction_policy_dict:
            return
        wanted = transaction_policy_dict["decoupled"]
        if policy.setdefault("decoupled", wanted) != wanted:
            raise ValueError(
                "trying to change decoupled property in auto-complete-config for model "
                f"'{self._name()}', which is already set to '{policy['decoupled']}'."
            )

    def _name(self):
        return self._model_config.get("name", "")

    def _add(self, kind, properties, known):
        place = f"in auto-complete-config function for model '{self._name()}'"
        for key in properties:
            if key not in known:
                names = ", ".join(f"'{each}'" for each in known[:-1]) + f" and '{known[-1]}'"
                raise ValueError(
                    f"{kind} '{properties.get('name')}' {place} contains property other than {names}."
                )
        if "name" not in properties:
            raise ValueError(f"{kind} {place} is missing 'name' property.")
        for key in ("data_type", "dims"):
            if key not in properties:
                raise ValueError(f"{kind} '{properties['name']}' {place} is missing '{key}' property.")

        configured = self._model_config.setdefault(kind, [])
        there = _find(self._model_config, kind, properties["name"])
        if there is None:
            configured.append(properties)
            return
        self._compare(kind, there, properties)
        there.update({key: value for key, value in properties.items() if key != "name"})

    def _compare(self, kind, there, properties):
        name = properties["name"]
        configured = there.get("data_type", "TYPE_INVALID")
        if configured not in ("TYPE_INVALID", properties["data_type"]):
            raise ValueError(
                f"unable to load model '{self._name()}', configuration expects datatype {configured} "
                f"for {kind} '{name}', model provides {properties['data_type']}"
            )
        for key in ("dims", "optional"):
            if there.get(key) and key in properties and there[key] != properties[key]:
                raise ValueError(
                    f"model '{self._name()}', tensor '{name}': the model expects {key} "
                    f"{properties[key]} but the model configuration specifies {key} {there[key]}"
                )
