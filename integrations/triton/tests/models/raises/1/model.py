import sys

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Goes wrong in the way that its input says."""

    def execute(self, requests):
        responses = []
        for request in requests:
            way = int(pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()[0])
            out = pb_utils.Tensor("OUT", np.array([way], np.int32))
            if way == 1:
                raise ValueError("way 1")
            if way == 2:
                sys.exit(2)
            if way == 3:
                return []
            if way == 4:
                return [out]
            if way == 5:
                return None
            if way == 6:
                request.exec()
            if way == 7:
                pb_utils.MetricFamily("name", "description", 7)
            if way == 8:
                responses.append(None)
                continue
            if way == 9:
                sender = request.get_response_sender()
                sender.send(
                    pb_utils.InferenceResponse([out]),
                    pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL,
                )
                return None
            if way == 10:
                # (A second response: the first one has been the client's answer already.)
                sender = request.get_response_sender()
                sender.send(pb_utils.InferenceResponse([out]))
                sender.send(pb_utils.InferenceResponse([out]))
            if way == 11:
                request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
            if way >= 100:
                error = pb_utils.TritonError(f"code {way}", way - 100)
                responses.append(pb_utils.InferenceResponse(error=error))
                continue
            responses.append(pb_utils.InferenceResponse([out]))
        return responses
