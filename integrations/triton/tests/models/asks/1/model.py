import asyncio
import json
import time

import numpy as np
import triton_python_backend_utils as pb_utils


def request_for(model, outputs, **inputs):
    return pb_utils.InferenceRequest(
        model_name=model,
        requested_output_names=outputs,
        inputs=[pb_utils.Tensor(name, array) for name, array in inputs.items()],
        request_id="from asks",
        correlation_id=5,
    )


def number(value):
    return np.array([value], np.int32)


def output(response, name):
    if response.has_error():
        return {"error": response.error().message(), "code": int(response.error().code())}
    return pb_utils.get_output_tensor_by_name(response, name).as_numpy()


class TritonPythonModel:
    """Asks other models, in the way that its input names, and tells what they have answered."""

    def initialize(self, args):
        try:
            request_for("add_sub", ["OUTPUT0"]).exec()
        except pb_utils.TritonModelException as error:
            self.refused = str(error)

    async def execute(self, requests):
        responses = []
        for request in requests:
            what, *arguments = json.loads(request.inputs()[0].as_numpy()[0])
            told = getattr(self, what)(*arguments)
            told = await told if asyncio.iscoroutine(told) else told
            text = np.array([json.dumps(told, default=lambda array: array.tolist())], np.object_)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", text)]))
        return responses

    def in_initialize(self):
        return self.refused

    def add_sub(self):
        a, b = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
        response = request_for("add_sub", ["OUTPUT1", "OUTPUT0"], INPUT0=a, INPUT1=b).exec()
        return [output(response, name) for name in ("OUTPUT0", "OUTPUT1")]

    def only_one_output(self):
        a = np.zeros(4, np.float32)
        response = request_for("add_sub", ["OUTPUT1"], INPUT0=a, INPUT1=a).exec()
        return [each.name() for each in response.output_tensors()]

    def what_it_is_told(self):
        request = pb_utils.InferenceRequest(
            model_name="told",
            requested_output_names=["TOLD"],
            inputs=[pb_utils.Tensor("IN", np.zeros(3, np.int32))],
            request_id="from asks",
            correlation_id="a text",
            flags=pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_START,
            timeout=77,
            parameters={"text": "ü", "number": -3, "truth": True},
        )
        response = request.exec()
        told = json.loads(output(response, "TOLD")[0])
        return told, json.loads(response.parameters())

    def error_of(self, model, value):
        return output(request_for(model, ["OUT"], IN=number(value)).exec(), "OUT")

    def many_numbers(self, count):
        array = np.arange(count, dtype=np.float32).reshape(1, count)
        same = True
        for _ in range(20):
            answer = output(request_for("identity", ["OUT"], IN=array).exec(), "OUT")
            same = same and np.array_equal(answer, array)
        return same

    def one_after_the_other(self, count):
        responses = request_for("repeats", ["OUT"], IN=number(count)).exec(decoupled=True)
        twice = [list(responses), list(responses)]
        return [
            [int(output(each, "OUT")[0]) for each in all if each.output_tensors()]
            for all in twice
        ]

    async def at_once(self, count):
        begin = time.monotonic()
        asked = [
            request_for("awaits", ["OUT"], IN=number(i)).async_exec(decoupled=True)
            for i in range(count)
        ]
        answers = [output(next(iter(each)), "OUT") for each in await asyncio.gather(*asked)]
        return sorted(int(each[0]) for each in answers), time.monotonic() - begin

    async def given_up(self):
        """Cancels a call of a model that sleeps for a minute; its instance is free soon."""
        begin = time.monotonic()
        sleeps = request_for("cancelled", ["OUT"], IN=np.array([60], np.float32)).async_exec()
        try:
            await asyncio.wait_for(sleeps, 0.5)
        except asyncio.TimeoutError:
            pass
        no_sleep = request_for("cancelled", ["OUT"], IN=np.zeros(1, np.float32)).async_exec()
        return output(await no_sleep, "OUT"), time.monotonic() - begin

    def models(self, name):
        before = pb_utils.is_model_ready(name)
        pb_utils.load_model(name)
        after = pb_utils.is_model_ready(name), pb_utils.is_model_ready(name, "2")
        pb_utils.unload_model(name)
        end = time.monotonic() + 30
        while pb_utils.is_model_ready(name) and time.monotonic() < end:
            time.sleep(0.02)
        return before, after, pb_utils.is_model_ready(name)

    def a_model_of_its_own(self):
        """That lies in no folder of the server's."""
        config = {"backend": "multipy", "input": [], "output": []}
        for kind, name in (("input", "IN"), ("output", "OUT")):
            config[kind].append({"name": name, "data_type": "TYPE_INT32", "dims": [1]})
        text = b"""
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", each.inputs()[0].as_numpy() * 3)])
                for each in requests]
"""
        pb_utils.load_model("of_its_own", json.dumps(config), {"file:1/model.py": text})
        tripled = output(request_for("of_its_own", ["OUT"], IN=number(4)).exec(), "OUT")
        pb_utils.unload_model("of_its_own")
        return tripled

    def cannot_load(self):
        try:
            pb_utils.load_model("initialize_raises")
        except pb_utils.TritonModelException as error:
            return str(error)
