import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Keeps its last input, which it should not. One that begins with 1 is answered with the sum of
    the one before; others leave that alone."""

    def initialize(self, args):
        self.last = np.zeros(1, np.int32)

    def execute(self, requests):
        responses = []
        for request in requests:
            array = request.inputs()[0].as_numpy()
            total = self.last.sum() if array[0] == 1 else 0
            self.last = array
            out = pb_utils.Tensor("OUT", np.array([total], np.int32))
            responses.append(pb_utils.InferenceResponse([out]))
        return responses
