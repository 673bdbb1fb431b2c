"""Requests, responses and errors, as a model.py sees them."""

import ctypes
import enum
import json
import struct

import _multipy_triton_server as server
from _multipy_triton_server import TritonModelException
from _multipy_triton_tensor import Tensor

TRITONSERVER_REQUEST_FLAG_SEQUENCE_START = 1
TRITONSERVER_REQUEST_FLAG_SEQUENCE_END = 2
TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1
TRITONSERVER_REQUEST_RELEASE_ALL = 1
TRITONSERVER_REQUEST_RELEASE_RESCHEDULE = 2
TRITONSERVER_MEMORY_GPU = 0
TRITONSERVER_MEMORY_CPU = 1

# Whether this interpreter's model can have requests rescheduled: _multipy_triton_model says so.
iterates = False


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


class PreferredMemory:
    """Where a BLS request's outputs are wanted."""

    __slots__ = ("preferred_memory_type", "preferred_device_id")

    def __init__(self, preferred_memory_type, preferred_device_id=0):
        self.preferred_memory_type = preferred_memory_type
        self.preferred_device_id = preferred_device_id


class InferenceTrace:
    __slots__ = ("_context",)

    def __init__(self, context=None):
        self._context = context

    def get_context(self):
        """The context that the client has begun, as JSON; None without one."""
        return self._context


class _Inputs:
    """The server's request: it is given back when this, and every array over an input, has gone."""

    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number

    # (Bound here: when the interpreter ends, the module may have gone before this.)
    def __del__(self, drop=server.drop_request):
        drop(self.number)


class _Replies:
    """The way back: the server is told when it has gone without a last response."""

    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number

    def __del__(self, drop=server.drop_responder):
        drop(self.number)


def _parameters_as_json(parameters):
    if parameters is None:
        return "{}"
    if not isinstance(parameters, dict):
        raise TritonModelException(
            f"Expect parameters to be a dict, found type {type(parameters)}"
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


def _not_yet(what):
    return TritonModelException(
        f"{what} is not there yet in the multipy backend: it needs backend \"python\""
    )


class InferenceRequest:
    __slots__ = (
        "_request_id",
        "_correlation_id",
        "_flags",
        "_timeout",
        "_parameters",
        "_requested",
        "_tensors",
        "_inputs",
        "_replies",
        "_sender",
        "_trace",
        "_release_flags",
        "_model",
        "__weakref__",
    )

    def __init__(
        self,
        request_id="",
        correlation_id=0,
        inputs=None,
        requested_output_names=None,
        model_name=None,
        model_version=-1,
        flags=0,
        timeout=0,
        preferred_memory=None,
        trace=None,
        parameters=None,
    ):
        """A request to another model."""
        if inputs is None or requested_output_names is None or model_name is None:
            raise TypeError(
                "InferenceRequest needs inputs, requested_output_names and model_name"
            )
        if not isinstance(correlation_id, (int, str)):
            raise TritonModelException("Correlation ID must be integer or string")
        self._request_id = request_id
        self._correlation_id = correlation_id
        self._flags = flags
        self._timeout = timeout
        self._parameters = _parameters_as_json(parameters)
        self._requested = set(requested_output_names)
        self._tensors = list(inputs)
        self._inputs = self._replies = self._sender = None
        self._trace = trace or InferenceTrace()
        self._release_flags = TRITONSERVER_REQUEST_RELEASE_ALL
        self._model = (model_name, model_version)

    @classmethod
    def _of_server(cls, values):
        """Of what request_values.cpp has made."""
        self = cls.__new__(cls)
        number, self._request_id, self._correlation_id = values[0], values[1], values[2]
        self._flags, self._timeout, self._parameters = values[3], values[4], values[5]
        self._requested = set(values[6])
        self._inputs = inputs = _Inputs(number)
        self._replies = _Replies(number)
        self._tensors = [
            Tensor._over(name, kind, shape, address, size, inputs)
            for name, kind, shape, address, size in values[7]
        ]
        self._sender = None
        self._trace = None
        self._release_flags = TRITONSERVER_REQUEST_RELEASE_ALL
        self._model = None
        return self

    def inputs(self):
        return self._tensors

    def request_id(self):
        return self._request_id

    def correlation_id(self):
        return self._correlation_id

    def flags(self):
        return self._flags

    def set_flags(self, flags):
        self._flags = flags

    def timeout(self):
        """In microseconds; 0: none."""
        return self._timeout

    def parameters(self):
        """As JSON."""
        return self._parameters

    def requested_output_names(self):
        return self._requested

    def trace(self):
        if self._trace is None:
            context = ctypes.c_char_p()
            server.require(server.trace_context(self._inputs.number, ctypes.byref(context)))
            text = (context.value or b"").decode()
            self._trace = InferenceTrace(text or None)
        return self._trace

    def is_cancelled(self):
        self._require_served("is_cancelled()")
        return _ask_cancelled(server.request_is_cancelled, self._inputs.number)

    def set_release_flags(self, flags):
        self._require_served("set_release_flags()")
        if flags not in (
            TRITONSERVER_REQUEST_RELEASE_ALL,
            TRITONSERVER_REQUEST_RELEASE_RESCHEDULE,
        ):
            raise TritonModelException(
                f"release flags {flags} are not known, expected TRITONSERVER_REQUEST_RELEASE_ALL "
                "or TRITONSERVER_REQUEST_RELEASE_RESCHEDULE"
            )
        if flags == TRITONSERVER_REQUEST_RELEASE_RESCHEDULE and not iterates:
            # The server would refuse it when execute() has returned, and answer nothing.
            raise TritonModelException(
                "only the requests of a model with sequence_batching { iterative_sequence: true } "
                "can be rescheduled"
            )
        server.require(server.set_release_flags(self._inputs.number, flags))
        self._release_flags = flags

    def get_response_sender(self):
        self._require_served("get_response_sender()")
        if self._sender is None:
            self._sender = InferenceResponseSender(self._replies, self._requested)
        return self._sender

    def exec(self, decoupled=False):
        raise _not_yet("InferenceRequest.exec() (BLS)")

    def async_exec(self, decoupled=False):
        raise _not_yet("InferenceRequest.async_exec() (BLS)")

    def _require_served(self, what):
        if self._inputs is None:
            raise TritonModelException(f"{what} is for requests that execute() was given")


def _ask_cancelled(function, number):
    cancelled = ctypes.c_int(0)
    server.require(function(number, ctypes.byref(cancelled)))
    return cancelled.value != 0


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
        self._parameters = _parameters_as_json(parameters)

    def output_tensors(self):
        return self._outputs

    def has_error(self):
        return self._error is not None

    def error(self):
        return self._error

    def parameters(self):
        return self._parameters


_COUNTS = struct.Struct("=II")
_OUTPUT = struct.Struct("=IIIIQQ")
_PARAMETER = struct.Struct("=IIQ")


def _parameter_rows(parameters):
    for key, value in parameters.items():
        key = key.encode("utf-8")
        if isinstance(value, bool):
            yield _PARAMETER.pack(len(key), 2, int(value)) + key
        elif isinstance(value, int):
            if not -(2**63) <= value < 2**63:
                raise TritonModelException(f"parameter {key.decode()} is {value}: too large")
            yield _PARAMETER.pack(len(key), 1, value & (2**64 - 1)) + key
        else:
            text = value.encode("utf-8")
            yield _PARAMETER.pack(len(key), 0, len(text)) + key + text


def _rows(response, requested):
    """The response as response_reader.h describes it; its tensors have to stay until it is sent."""
    outputs = response._outputs
    if requested:
        outputs = [output for output in outputs if output._name in requested]
    parameters = {} if response._parameters == "{}" else json.loads(response._parameters)
    rows = [_COUNTS.pack(len(outputs), len(parameters))]
    for output in outputs:
        name = output._name.encode("utf-8")
        shape = output._shape
        address, size = output._memory()
        rows.append(_OUTPUT.pack(len(name), output._type, len(shape), 0, address, size))
        if shape:
            rows.append(struct.pack(f"={len(shape)}q", *shape))
        rows.append(name)
    rows.extend(_parameter_rows(parameters))
    return b"".join(rows)


def send(replies, requested, response, flags):
    """Sends a response, or, without one, only flags."""
    number = replies.number
    if response is None:
        error = server.send_last(number, flags)
    elif response._error is not None:
        text = server.to_bytes(response._error._message)
        error = server.send_error(number, int(response._error._code), text, flags)
    else:
        rows = _rows(response, requested)
        error = server.send_response(number, rows, len(rows), flags)
    server.require(error)


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
        return _ask_cancelled(server.responder_is_cancelled, self._replies.number)


def get_input_tensor_by_name(inference_request, name):
    """The input of that name; None without one."""
    return next((each for each in inference_request.inputs() if each.name() == name), None)


def get_output_tensor_by_name(inference_response, name):
    """The output of that name; None without one."""
    return next((each for each in inference_response.output_tensors() if each.name() == name), None)


class MetricFamily:
    """Metrics of a model's own: not there yet."""

    COUNTER, GAUGE, HISTOGRAM = range(3)

    def __init__(self, *args, **kwargs):
        raise _not_yet("MetricFamily (a model's own metrics)")


def load_model(*args, **kwargs):
    raise _not_yet("load_model()")


def unload_model(*args, **kwargs):
    raise _not_yet("unload_model()")


def is_model_ready(*args, **kwargs):
    raise _not_yet("is_model_ready()")
