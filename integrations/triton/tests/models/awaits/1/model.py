import asyncio

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    async def execute(self, requests):
        await asyncio.gather(*(self.answer(request) for request in requests))

    async def answer(self, request):
        sender = request.get_response_sender()
        await asyncio.sleep(0.2)
        out = pb_utils.Tensor("OUT", request.inputs()[0].as_numpy() + 1)
        sender.send(
            pb_utils.InferenceResponse([out]), pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL
        )
