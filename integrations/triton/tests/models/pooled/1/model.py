import importlib
import json
import os
import sys
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Does what the JSON in IN says, and tells what came of it. (Other models have links to this file.)"""

    def initialize(self, args):
        flag = json.loads(args["model_config"])["parameters"].get("RAISES_IF", {}).get("string_value")
        if flag and os.path.exists(flag):
            raise RuntimeError(f"{flag} is there")
        self.began = time.monotonic_ns()

    def execute(self, requests):
        responses = []
        for request in requests:
            name, *arguments = json.loads(request.inputs()[0].as_numpy()[0])
            told = json.dumps(getattr(self, name)(*arguments))
            output = pb_utils.Tensor("OUT", np.array([told], np.object_))
            responses.append(pb_utils.InferenceResponse([output]))
        return responses

    def where(self, seconds=0):
        """Its interpreter, of which each has a module sys; and when it was initialized there."""
        time.sleep(seconds)
        return id(sys), self.began

    def loop(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass

    def folders(self):
        """As told to its own code, to that of a module beside it, and to a thread."""
        folders = [pb_utils.get_model_dir()]
        if self.has("pooled_helper"):
            folders.append(importlib.import_module("pooled_helper").folder())
        thread = threading.Thread(target=lambda: folders.append(pb_utils.get_model_dir()))
        thread.start()
        thread.join()
        return folders

    def has(self, name):
        """Whether a module of this name lies beside it."""
        return os.path.exists(os.path.join(os.path.dirname(__file__), name + ".py"))

    def helpers(self):
        from . import near
        return [importlib.import_module("pooled_helper").OF, near.OF]

    def imports(self, name):
        try:
            return importlib.import_module(name).__file__
        except ImportError as error:
            return str(error)

    def modules(self):
        return sorted(name for name in sys.modules if "pooled" in name), [
            place for place in sys.path if "pooled" in place
        ]

    def ask(self, model, *what):
        value = pb_utils.Tensor("IN", np.array([json.dumps(what)], np.object_))
        answer = pb_utils.InferenceRequest(
            inputs=[value], requested_output_names=["OUT"], model_name=model
        ).exec()
        if answer.has_error():
            return answer.error().message()
        return json.loads(pb_utils.get_output_tensor_by_name(answer, "OUT").as_numpy()[0])

    def load(self, model):
        pb_utils.load_model(model)
        return pb_utils.is_model_ready(model)
