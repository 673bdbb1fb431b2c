import time

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Sleeps for as long as its input says, and never asks whether anybody waits for it."""

    def initialize(self, args):
        pb_utils.Logger.log_info("cancelled begins")

    def finalize(self):
        pb_utils.Logger.log_info("cancelled ends")

    def execute(self, requests):
        seconds = requests[0].inputs()[0].as_numpy()
        time.sleep(float(seconds[0]))
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", seconds)]) for _ in requests]
