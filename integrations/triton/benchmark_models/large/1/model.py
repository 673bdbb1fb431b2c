import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """10 MB in, 10 MB out."""

    def execute(self, requests):
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("OUT", request.inputs()[0].as_numpy() * 2)])
            for request in requests
        ]
