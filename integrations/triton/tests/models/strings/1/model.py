import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Turns each text around."""

    def execute(self, requests):
        responses = []
        for request in requests:
            texts = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()
            turned = np.array([each[::-1] for each in texts.ravel()], dtype=np.object_)
            out = pb_utils.Tensor("OUT", turned.reshape(texts.shape))
            responses.append(pb_utils.InferenceResponse([out]))
        return responses
