"""A request or an answer in memory that two processes share.

The layout is that of Message in program/ring_layout.h: a header of 64-bit numbers,
then bytes. A tensor is read as a view of that memory, without a copy: code that keeps
it beyond the turn copies it.
"""

import torch

ERROR, TENSOR, NUMBER, TEXT = range(4)
_DATA = 128  # where the bytes begin
_KIND, MODEL, _TYPE, _DIMENSIONS, _SIZES, _BYTES, _NUMBER = 0, 1, 2, 3, 4, 10, 11
_TYPES = (torch.float32, torch.int64)


class Area:
    def __init__(self, memory: memoryview) -> None:
        self.header = memory[:_DATA].cast("q")
        self.data = memory[_DATA:]
        self.views = {}  # of shapes that were seen before

    def put(self, value, model: int = 0) -> None:
        header = self.header
        header[MODEL] = model
        if isinstance(value, torch.Tensor):
            header[_KIND], header[_TYPE], header[_DIMENSIONS] = TENSOR, _TYPES.index(value.dtype), value.dim()
            for i, size in enumerate(value.shape):
                header[_SIZES + i] = size
            header[_BYTES] = value.nbytes
            self._view(header[_TYPE], tuple(value.shape)).copy_(value)
        elif isinstance(value, int):
            header[_KIND], header[_NUMBER], header[_BYTES] = NUMBER, value, 0
        else:
            self._put_bytes(TEXT, b"".join(line.encode() + b"\0" for line in value))

    def put_error(self, error: BaseException) -> None:
        self._put_bytes(ERROR, repr(error).encode())

    def get(self):
        header = self.header
        kind = header[_KIND]
        if kind == TENSOR:
            return self._view(header[_TYPE], tuple(header[_SIZES : _SIZES + header[_DIMENSIONS]]))
        if kind == NUMBER:
            return header[_NUMBER]
        text = bytes(self.data[: header[_BYTES]]).decode()
        if kind == ERROR:
            raise RuntimeError(f"a worker's model failed: {text}")
        return text.split("\0")[:-1]

    def _put_bytes(self, kind: int, data: bytes) -> None:
        self.header[_KIND], self.header[_BYTES] = kind, len(data)
        self.data[: len(data)] = data

    def _view(self, type_number: int, shape: tuple) -> torch.Tensor:
        view = self.views.get((type_number, shape))
        if view is None:
            dtype = _TYPES[type_number]
            count = torch.Size(shape).numel()
            if count * dtype.itemsize > len(self.data):
                raise ValueError(f"a tensor of shape {shape} is larger than the {len(self.data)} bytes shared")
            view = torch.frombuffer(self.data, dtype=dtype)[:count].view(shape)
            self.views[type_number, shape] = view
        return view
