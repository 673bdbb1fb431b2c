import torch
import triton_python_backend_utils as pb_utils
from torch.utils.dlpack import from_dlpack


class TritonPythonModel:
    """Inputs as torch's tensors over Triton's memory, outputs from torch's."""

    def execute(self, requests):
        responses = []
        for request in requests:
            x, truth = request.inputs()
            a = from_dlpack(x.to_dlpack())
            assert a.dtype == torch.bfloat16 and a.data_ptr() == torch.from_dlpack(x).data_ptr()
            b = torch.from_dlpack(truth)
            try:
                pb_utils.Tensor.from_dlpack("OUT", a.t())
                raise AssertionError("took a tensor that is not contiguous")
            except pb_utils.TritonModelException:
                pass
            out = pb_utils.Tensor.from_dlpack("OUT", a.t().contiguous())
            false = pb_utils.Tensor.from_dlpack("FALSE", (~b).contiguous())
            assert false.as_numpy().tolist() == [not each for each in truth.as_numpy()]
            responses.append(pb_utils.InferenceResponse([out, false]))
        return responses
