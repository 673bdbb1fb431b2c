import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Says with how many requests each came. Negative numbers get an error of their own."""

    def execute(self, requests):
        responses = []
        for request in requests:
            value = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()
            if value.min() < 0:
                error = pb_utils.TritonError("negative", pb_utils.TritonError.INVALID_ARG)
                responses.append(pb_utils.InferenceResponse(error=error))
                continue
            count = np.full(value.shape, len(requests), np.int32)
            outputs = [pb_utils.Tensor("OUT", value * 2), pb_utils.Tensor("REQUESTS", count)]
            responses.append(pb_utils.InferenceResponse(outputs))
        return responses
