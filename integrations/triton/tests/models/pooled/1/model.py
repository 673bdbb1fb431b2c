import concurrent.futures
import importlib
import json
import os
import pickle
import sys
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils

kept = []


class TritonPythonModel:
    """Does what the JSON in IN says, and tells what came of it. (Other models have links to this file.)"""

    def initialize(self, args):
        flag = json.loads(args["model_config"])["parameters"].get("RAISES_IF", {}).get("string_value")
        if flag and os.path.exists(flag):
            raise RuntimeError(f"{flag} is there")
        self.began = time.monotonic_ns()

    def execute(self, requests):
        self.requests = requests
        responses = []
        for request in requests:
            name, *arguments = json.loads(request.inputs()[0].as_numpy()[0])
            told = json.dumps(getattr(self, name)(*arguments))
            output = pb_utils.Tensor("OUT", np.array([told], np.object_))
            responses.append(pb_utils.InferenceResponse([output]))
        self.requests = None
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

    def unpickles(self, name):
        """What the module that is called so has as OF."""
        return pickle.loads(f"c{name}\nOF\n.".encode())

    def keeps(self):
        kept.append(self.requests)

    def forks(self, model):
        """What a child of fork() gets to hear that asks a model."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                self.ask(model, "where")
            except pb_utils.TritonModelException as error:
                os.write(write, str(error).encode())
            os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        with open(read) as told:
            return told.read()

    def asks_by_a_pool(self, model):
        """A thread of a library sends the request."""
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return pool.submit(self.request(model, "where").exec).result().has_error()

    def modules(self):
        return sorted(name for name in sys.modules if "pooled" in name), [
            place for place in sys.path if "pooled" in place
        ]

    def request(self, model, *what):
        value = pb_utils.Tensor("IN", np.array([json.dumps(what)], np.object_))
        return pb_utils.InferenceRequest(
            inputs=[value], requested_output_names=["OUT"], model_name=model
        )

    def ask(self, model, *what):
        answer = self.request(model, *what).exec()
        if answer.has_error():
            return answer.error().message()
        return json.loads(pb_utils.get_output_tensor_by_name(answer, "OUT").as_numpy()[0])

    def load(self, model):
        pb_utils.load_model(model)
        return pb_utils.is_model_ready(model)
