import torch
import triton_python_backend_utils as pb_utils
from resnet import ResNet18  # examples/02_package/resnet.py, which ../../benchmark puts beside this


class TritonPythonModel:
    def initialize(self, args):
        torch.set_num_threads(1)  # the instances are what runs in parallel
        torch.manual_seed(0)
        self.model = ResNet18().eval()

    def execute(self, requests):
        responses = []
        for request in requests:
            image = torch.from_numpy(request.inputs()[0].as_numpy())
            with torch.inference_mode():
                scores = self.model(image)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("SCORE", scores.numpy())]))
        return responses
