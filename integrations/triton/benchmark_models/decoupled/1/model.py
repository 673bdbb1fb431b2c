import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Eight responses to each request."""

    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            x = request.inputs()[0].as_numpy()
            for step in range(8):
                sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", x + step)]))
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
