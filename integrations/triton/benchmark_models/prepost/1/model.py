import numpy as np
import triton_python_backend_utils as pb_utils

LABELS = np.array([f"label {i}" for i in range(1000)], object)


class TritonPythonModel:
    """What stands before and behind a network: an image is cut, scaled and normalized, and scores
    become the names of the best five. (The network is one product of matrices.)"""

    def initialize(self, args):
        self.weights = np.random.default_rng(0).standard_normal((3 * 28 * 28, 1000), np.float32)

    def execute(self, requests):
        responses = []
        for request in requests:
            image = pb_utils.get_input_tensor_by_name(request, "IMAGE").as_numpy()
            square = image[:, 8:232, 48:272].astype(np.float32) / 255
            small = square.reshape(-1, 28, 8, 28, 8, 3).mean((2, 4))
            scores = ((small - 0.45) / 0.225).reshape(len(image), -1) @ self.weights
            scores = np.exp(scores - scores.max(1, keepdims=True))
            scores /= scores.sum(1, keepdims=True)
            best = np.argsort(scores, 1)[:, :-6:-1]
            responses.append(
                pb_utils.InferenceResponse(
                    [
                        pb_utils.Tensor("SCORE", np.take_along_axis(scores, best, 1)),
                        pb_utils.Tensor("LABEL", LABELS[best]),
                    ]
                )
            )
        return responses
