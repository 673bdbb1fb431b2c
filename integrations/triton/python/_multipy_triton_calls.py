"""Requests of a model to other ones: what InferenceRequest.exec() and async_exec() do."""

import asyncio
import ctypes
import json
import os
import struct

import _multipy_triton_rows as rows
import _multipy_triton_server as server
from _multipy_triton_responses import InferenceResponse, TritonError
from _multipy_triton_server import TritonModelException
from _multipy_triton_tensor import Tensor

# In milliseconds. Between two waits an interrupt can reach the thread.
_PATIENCE = 100

_REQUEST = struct.Struct("=qQQQIIIIII")
_RESPONSE = struct.Struct("=IIIIQ")
_LAST, _NOTHING_ELSE = 1, 2

_is_child = False  # of a fork


def _be_child():
    global _is_child
    _is_child = True


os.register_at_fork(after_in_child=_be_child)


class Asker:
    """A model's requests to other ones."""

    def __init__(self):
        self.allowed = False  # between initialize() and finalize()
        # Inputs of calls that have been dropped and that the server has not released yet, by number.
        self._kept = {}
        self._ending = False

    # (Bound here, as below: when the interpreter ends, the module may have gone before this.)
    def let_go(self, number, inputs, drop=server.drop_call, patience=_PATIENCE):
        while not drop(number, patience if self._ending else 0):
            if not self._ending:
                self._kept[number] = inputs
                return

    def sweep(self):
        for number in list(self._kept):
            if server.drop_call(number, 0):
                self._kept.pop(number, None)

    def end(self):
        """Waits until the server reads nothing of this model's memory any more."""
        self.allowed = False
        self._ending = True
        while self._kept:
            number, inputs = self._kept.popitem()
            self.let_go(number, inputs)


def _row(request, decoupled):
    model, version = request._model
    correlation = request._correlation_id
    text = correlation if isinstance(correlation, str) else None
    parameters = json.loads(request._parameters)
    parts = [
        _REQUEST.pack(
            version,
            request._timeout,
            request._trace._request_number,
            0 if text is not None else correlation,
            text is not None,
            request._flags,
            bool(decoupled),
            len(request._tensors),
            len(request._requested),
            len(parameters),
        ),
        rows.text(model),
        rows.text(request._request_id),
        rows.text(text or ""),
    ]
    parts.extend(rows.tensor(each) for each in request._tensors)
    parts.extend(rows.text(each) for each in request._requested)
    parts.extend(rows.parameter(key, value) for key, value in parameters.items())
    return b"".join(parts)


class _Outputs:
    """A response of the server's: its outputs' memory goes with this."""

    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number

    def __del__(self, drop=server.drop_response):
        drop(self.number)


def _failed(error, code=TritonError.INTERNAL):
    return InferenceResponse(error=TritonError(error, code))


class _Call:
    """One request, from its sending on."""

    __slots__ = ("_asker", "_number", "_inputs")

    def __init__(self, asker, request, decoupled, wakes=-1):
        self._asker = asker
        self._number = 0
        row = _row(request, decoupled)
        number = ctypes.c_uint64()
        self._inputs = list(request._tensors)
        server.require(
            server.send_call(server.handle, row, len(row), wakes, ctypes.byref(number))
        )
        self._number = number.value

    def __del__(self):
        if self._number != 0:
            self._asker.let_go(self._number, self._inputs)

    def cancel(self):
        server.require(server.cancel_call(self._number))

    def take(self, patience=0):
        """The next response, whether it is the last one and whether it is nothing but that; None if
        there is none in this time."""
        number, row, size = ctypes.c_uint64(), ctypes.c_void_p(), ctypes.c_uint64()
        references = map(ctypes.byref, (number, row, size))
        error = server.next_response(self._number, patience, *references)
        if error is not None:
            return _failed(error.decode("utf-8", "replace"), TritonError.UNAVAILABLE), True, False
        if number.value == 0:
            return None
        outputs = _Outputs(number.value)
        read = rows.Reader(ctypes.string_at(row.value, size.value))
        output_count, parameter_count, flags, has_error, code = read.numbers(_RESPONSE)
        text = read.text()
        response = InferenceResponse(
            [Tensor._over(*read.tensor(), outputs) for _ in range(output_count)],
            TritonError(text, code) if has_error else None,
            dict(read.parameter() for _ in range(parameter_count)),
        )
        return response, bool(flags & _LAST), bool(flags & _NOTHING_ELSE)

    def wait(self):
        while True:
            taken = self.take(_PATIENCE)
            if taken is not None:
                return taken


class ResponseIterator:
    """The responses to a request; when all have come, it can be gone through again."""

    def __init__(self, call, first):
        self._call = call
        self._responses = []
        self._at = 0
        self._add(first)

    def _add(self, taken):
        response, is_last, _ = taken
        self._responses.append(response)
        if is_last:
            self._call = None

    def __iter__(self):
        if self._call is None and self._at >= len(self._responses):
            self._at = 0
        return self

    def __next__(self):
        if self._at == len(self._responses):
            if self._call is None:
                raise StopIteration
            self._add(self._call.wait())
        self._at += 1
        return self._responses[self._at - 1]

    def cancel(self):
        """Asks the model to end it."""
        if self._call is not None:
            self._call.cancel()


def _answer(call, taken, decoupled):
    if decoupled:
        return ResponseIterator(call, taken)
    response, _, is_nothing_else = taken
    return _failed("Unexpected empty response.") if is_nothing_else else response


def _send(request, decoupled, wakes=-1):
    """The call, and None; or None, and the answer that says why it was not made."""
    if _is_child:
        raise TritonModelException(
            "a child of fork() cannot ask other models: the server is in its parent; ask there"
        )
    if request._resident is None:
        raise TritonModelException(
            "this interpreter has several models, and no code of any of them has made this request: "
            "make the InferenceRequest in the model's own code, a thread of a library can send it"
        )
    asker = request._resident.asker
    if not asker.allowed:
        raise TritonModelException("BLS is only supported during the 'execute' function.")
    asker.sweep()
    try:
        return _Call(asker, request, decoupled, wakes), None
    except TritonModelException as error:
        return None, _answer(None, (_failed(error), True, False), decoupled)


def execute(request, decoupled):
    call, refused = _send(request, decoupled)
    return refused if call is None else _answer(call, call.wait(), decoupled)


def execute_async(request, decoupled):
    """The same as a future of the running loop. No thread waits for it."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    wakes = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
    try:
        call, refused = _send(request, decoupled, wakes)
    except BaseException:
        os.close(wakes)
        raise
    if call is None:
        os.close(wakes)
        future.set_result(refused)
        return future

    def look():
        os.eventfd_read(wakes)
        taken = call.take()
        if taken is not None and not future.done():
            future.set_result(_answer(call, taken, decoupled))

    def end(ended):
        loop.remove_reader(wakes)
        os.close(wakes)
        if ended.cancelled():
            call.cancel()

    loop.add_reader(wakes, look)
    future.add_done_callback(end)
    return future
