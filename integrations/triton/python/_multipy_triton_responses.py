"""Responses and errors, as a model.py makes and sees them."""

import ctypes
import enum
import json
import struct

import _multipy_triton_rows as rows
import _multipy_triton_server as server
from _multipy_triton_server import TritonModelException
from _multipy_triton_tensor import Tensor

TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1


class TritonError:
    """What went wrong with a request, for its response."""

    class ErrorCode(enum.IntEnum):
        UNKNOWN = 0
        INTERNAL = 1
        NOT_FOUND = 2
        INVALID_ARG = 3
        UNAVAILABLE = 4
        UNSUPPORTED = 5
        ALREADY_EXISTS = 6
        CANCELLED = 7

    UNKNOWN = ErrorCode.UNKNOWN
    INTERNAL = ErrorCode.INTERNAL
    NOT_FOUND = ErrorCode.NOT_FOUND
    INVALID_ARG = ErrorCode.INVALID_ARG
    UNAVAILABLE = ErrorCode.UNAVAILABLE
    UNSUPPORTED = ErrorCode.UNSUPPORTED
    ALREADY_EXISTS = ErrorCode.ALREADY_EXISTS
    CANCELLED = ErrorCode.CANCELLED

    __slots__ = ("_message", "_code")

    def __init__(self, message, code=ErrorCode.INTERNAL):
        self._message = str(message)
        self._code = TritonError.ErrorCode(code)

    def code(self):
        return self._code

    def message(self):
        return self._message


def parameters_as_json(parameters):
    if parameters is None:
        return "{}"
    if not isinstance(parameters, dict):
        raise TritonModelException(
            f"Expect parameters to be a dict, got {type(parameters)}"
        )
    for key, value in parameters.items():
        if not isinstance(key, str):
            raise TritonModelException(
                f"Expect parameters keys to have type str, found type {type(key)}"
            )
        if not isinstance(value, (bool, int, str)):
            raise TritonModelException(
                f"Expect parameters values to have type bool/int/str, found type {type(value)}"
            )
    return json.dumps(parameters)


class InferenceResponse:
    __slots__ = ("_outputs", "_error", "_parameters", "__weakref__")

    def __init__(self, output_tensors=(), error=None, parameters=None):
        outputs = list(output_tensors)
        for output in outputs:
            if not isinstance(output, Tensor):
                raise TritonModelException(
                    "Output tensor for inference response should not be empty."
                    if output is None
                    else f"output_tensors has an object of {type(output)}, expected a pb_utils.Tensor"
                )
        if error is not None and not isinstance(error, TritonError):
            raise TypeError(f"error is of {type(error)}, expected a pb_utils.TritonError")
        self._outputs = outputs
        self._error = error
        self._parameters = parameters_as_json(parameters)

    def output_tensors(self):
        return self._outputs

    def has_error(self):
        return self._error is not None

    def error(self):
        return self._error

    def parameters(self):
        return self._parameters


_COUNTS = struct.Struct("=II")


def _row(response, requested):
    """The response as response_reader.h describes it; its tensors have to stay until it is sent."""
    outputs = response._outputs
    if requested:
        outputs = [output for output in outputs if output._name in requested]
    parameters = {} if response._parameters == "{}" else json.loads(response._parameters)
    parts = [_COUNTS.pack(len(outputs), len(parameters))]
    parts.extend(rows.tensor(output) for output in outputs)
    parts.extend(rows.parameter(key, value) for key, value in parameters.items())
    return b"".join(parts)


class Replies:
    """The way back: the server is told when it has gone without a last response."""

    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number

    def __del__(self, drop=server.drop_responder):
        drop(self.number)


def send(replies, requested, response, flags):
    """Sends a response, or, without one, only flags."""
    number = replies.number
    if response is None:
        error = server.send_last(number, flags)
    elif response._error is not None:
        text = server.to_bytes(response._error._message)
        error = server.send_error(number, int(response._error._code), text, flags)
    else:
        row = _row(response, requested)
        error = server.send_response(number, row, len(row), flags)
    server.require(error)


def ask_cancelled(function, number):
    cancelled = ctypes.c_int(0)
    server.require(function(number, ctypes.byref(cancelled)))
    return cancelled.value != 0


class InferenceResponseSender:
    """Sends responses of one request, also after execute() has returned, and from any thread."""

    __slots__ = ("_replies", "_requested", "__weakref__")

    def __init__(self, replies, requested):
        self._replies = replies
        self._requested = requested

    def send(self, response=None, flags=0):
        if response is not None and not isinstance(response, InferenceResponse):
            raise TypeError(
                f"response is of {type(response)}, expected a pb_utils.InferenceResponse"
            )
        send(self._replies, self._requested, response, flags)

    def is_cancelled(self):
        return ask_cancelled(server.responder_is_cancelled, self._replies.number)


def get_output_tensor_by_name(inference_response, name):
    """The output of that name; None without one."""
    return next((each for each in inference_response.output_tensors() if each.name() == name), None)
