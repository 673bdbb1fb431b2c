"""numpy arrays and tensors over one memory, DLPack and the buffer protocol."""

import numpy
import torch
from showing import raised, show

array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
tensor = torch.from_numpy(array)
array[0, 0] = 50
tensor[1, 2] = -7
show("tensor", tensor)
print(array, tensor.numpy() is not array, numpy.shares_memory(tensor.numpy(), array))
print(numpy.add(tensor, 1), type(numpy.sqrt(tensor.abs())).__name__)
show("as_tensor", torch.as_tensor(array[::-1].copy()))
show("dlpack", torch.from_dlpack(array))
show("frombuffer", torch.frombuffer(bytearray(b"\1\2\3\4\5\6\7\10"), dtype=torch.int16, offset=2))
show("array of", numpy.asarray(torch.tensor([1.5, 2.5])).tolist())
show("scalar", torch.tensor(numpy.float64(2.5)) * numpy.int32(2))
raised("negative strides", torch.from_numpy, array[::-1])
raised("objects", torch.from_numpy, numpy.array([None]))
raised("needs grad", lambda: torch.ones(1, requires_grad=True).numpy())
array = None
show("memory stays", tensor)
