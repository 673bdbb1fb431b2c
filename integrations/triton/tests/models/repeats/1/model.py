import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


class TritonPythonModel:
    """As many responses as its input says, from a thread, after execute() has returned. A negative
    one is dropped without an answer."""

    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            # The input is looked at by the thread: it has to stay as long as the array does.
            array = request.inputs()[0].as_numpy()
            threading.Thread(target=self.answer, args=(sender, array), daemon=True).start()

    def answer(self, sender, array):
        time.sleep(0.05)
        if array[0] < 0:
            return
        for i in range(int(array[0])):
            out = pb_utils.Tensor("OUT", np.array([i], np.int32))
            sender.send(pb_utils.InferenceResponse([out]))
        sender.send(flags=FINAL)
