"""A rival: the worker of program/ring_pool.cpp, a process for each instance.

    python ring_worker.py LIBRARY PACKAGE:PACKAGE... FILE_DESCRIPTOR

Waiting and waking are C++ (program/ring_worker.cpp), a call through ctypes each: some
0.3 us beside the microseconds of a wake-up. Requests are read where the client wrote
them, and the answer is written where the client reads it: one copy each way.
"""

import ctypes
import mmap
import sys

import torch

from area import MODEL, Area


def main(library: str, packages: list[str], descriptor: int) -> None:
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    ring = ctypes.CDLL(library)
    for name in ("ring_request", "ring_answer", "ring_message_bytes"):
        getattr(ring, name).restype = ctypes.c_size_t
    ring.ring_wait.argtypes = ring.ring_answered.argtypes = (ctypes.c_void_p, ctypes.c_uint64)
    ring.ring_begin()
    memory = mmap.mmap(descriptor, 0)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    size, whole = ring.ring_message_bytes(), memoryview(memory)

    def area(start: int) -> Area:
        return Area(whole[start : start + size])

    slots = [(area(ring.ring_request(i)), area(ring.ring_answer(i))) for i in range(ring.ring_slots())]
    models = [torch.package.PackageImporter(package).load_pickle("model", "model.pkl") for package in packages]
    ticket = 0
    while (slot := ring.ring_wait(base, ticket)) >= 0:
        request, answer = slots[slot]
        try:
            answer.put(models[request.header[MODEL]](request.get()))
        except Exception as error:  # the client throws it
            answer.put_error(error)
        ring.ring_answered(base, ticket)
        ticket += 1


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2].split(":"), int(sys.argv[3]))
