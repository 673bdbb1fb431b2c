import time

import numpy as np
import torch
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Makes its weights itself, as each instance does, and tells where they lie."""

    def initialize(self, args):
        torch.manual_seed(0)
        self.layer = torch.nn.Linear(256, 256)
        self.tied = torch.nn.Linear(256, 256)
        self.tied.weight = self.layer.weight
        torch.manual_seed(hash(args["model_instance_name"]))
        self.own = torch.nn.Linear(256, 256)

    def execute(self, requests):
        time.sleep(0.2)  # so that the next request goes to another instance
        weights = (self.layer.weight, self.tied.weight, self.own.weight)
        place = np.array([each.data_ptr() for each in weights], np.uint64)
        responses = []
        for request in requests:
            with torch.no_grad():
                y = self.layer(torch.from_numpy(request.inputs()[0].as_numpy())).numpy()
            responses.append(
                pb_utils.InferenceResponse(
                    [pb_utils.Tensor("OUT", y), pb_utils.Tensor("PLACE", place)]
                )
            )
        return responses
