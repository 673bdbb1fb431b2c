import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Counts down from its input: one response for each call, in which the request comes again."""

    def initialize(self, args):
        self.left = None

    def execute(self, requests):
        for request in requests:
            if self.left is None:
                self.left = int(request.inputs()[0].as_numpy()[0, 0])
            self.left -= 1
            out = pb_utils.Tensor("OUT", np.array([[self.left]], np.int32))
            response = pb_utils.InferenceResponse([out])
            sender = request.get_response_sender()
            if self.left > 0:
                request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
                sender.send(response)
            else:
                self.left = None
                sender.send(response, pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
