import json

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        assert args["model_name"] == "add_sub" and args["model_version"] == "1"
        assert args["model_instance_kind"] == "CPU" and args["model_instance_device_id"] == "0"
        self.types = [
            pb_utils.triton_string_to_numpy(
                pb_utils.get_output_config_by_name(config, name)["data_type"]
            )
            for name in ("OUTPUT0", "OUTPUT1")
        ]

    def execute(self, requests):
        responses = []
        for request in requests:
            a, b = (
                pb_utils.get_input_tensor_by_name(request, name).as_numpy()
                for name in ("INPUT0", "INPUT1")
            )
            responses.append(
                pb_utils.InferenceResponse(
                    output_tensors=[
                        pb_utils.Tensor("OUTPUT0", (a + b).astype(self.types[0])),
                        pb_utils.Tensor("OUTPUT1", (a - b).astype(self.types[1])),
                    ]
                )
            )
        return responses
