import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Says what it is told of a request."""

    def execute(self, requests):
        responses = []
        for request in requests:
            pb_utils.Logger.log_info("told of " + request.request_id())
            told = {
                "request_id": request.request_id(),
                "correlation_id": request.correlation_id(),
                "flags": request.flags(),
                "timeout": request.timeout(),
                "parameters": json.loads(request.parameters()),
                "requested": sorted(request.requested_output_names()),
                "cancelled": request.is_cancelled(),
                "trace": request.trace().get_context(),
                "folder": pb_utils.get_model_dir(),
                "size": int(request.inputs()[0].as_numpy().size),
            }
            text = np.array([json.dumps(told)], dtype=np.object_)
            responses.append(
                pb_utils.InferenceResponse(
                    [
                        pb_utils.Tensor("TOLD", text),
                        pb_utils.Tensor("OTHER", np.zeros(1, np.int32)),
                    ],
                    parameters={"whole": 7, "truth": True, "text": "über"},
                )
            )
        return responses
