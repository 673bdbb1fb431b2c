"""A model that answers when the test says so. It travels in the package that gated_package.py saves."""

import os
import time


class GatedModel:
    """Answers when the file that the request names under "wait for" is there: it sleeps until then,
    or computes if the request has "busy"."""

    def __call__(self, request):
        if "raise" in request:
            raise RuntimeError(request["raise"])
        gate = request.get("wait for")
        while gate and not os.path.exists(gate):
            if request.get("busy"):
                sum(range(100_000))
            else:
                time.sleep(0.01)
        return request.get("answer")
