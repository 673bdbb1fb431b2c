"""Requests, as a model.py sees them."""

import ctypes
import numbers

import _multipy_triton_calls as calls
import _multipy_triton_server as server
from _multipy_triton_residents import of_caller
from _multipy_triton_responses import (
    InferenceResponseSender,
    Replies,
    ask_cancelled,
    parameters_as_json,
)
from _multipy_triton_server import TritonModelException
from _multipy_triton_tensor import Tensor

TRITONSERVER_REQUEST_FLAG_SEQUENCE_START = 1
TRITONSERVER_REQUEST_FLAG_SEQUENCE_END = 2
TRITONSERVER_REQUEST_RELEASE_ALL = 1
TRITONSERVER_REQUEST_RELEASE_RESCHEDULE = 2
TRITONSERVER_MEMORY_GPU = 0
TRITONSERVER_MEMORY_CPU = 1


class PreferredMemory:
    """Where a BLS request's outputs are wanted."""

    __slots__ = ("preferred_memory_type", "preferred_device_id")

    def __init__(self, preferred_memory_type, preferred_device_id=0):
        self.preferred_memory_type = preferred_memory_type
        self.preferred_device_id = preferred_device_id


class InferenceTrace:
    __slots__ = ("_context", "_request_number")

    def __init__(self, context=None, request_number=0):
        self._context = context
        self._request_number = request_number  # of the server's request that it is of; 0: of none

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
        "_iterates",
        "_resident",
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
        requested_output_names = list(requested_output_names)
        for what, values, kinds in (
            ("request_id", [request_id], str),
            ("correlation_id", [correlation_id], (numbers.Integral, str)),
            ("requested_output_names", requested_output_names, str),
            ("model_name", [model_name], str),
            ("model_version", [model_version], numbers.Integral),
            ("flags", [flags], numbers.Integral),
            ("timeout", [timeout], numbers.Integral),
        ):
            for value in values:
                if not isinstance(value, kinds):
                    raise TypeError(f"{what} of an InferenceRequest has a {type(value).__name__}: {value!r}")
        self._request_id = request_id
        self._correlation_id = correlation_id
        self._flags = flags
        self._timeout = timeout
        self._parameters = parameters_as_json(parameters)
        self._requested = set(requested_output_names)
        self._tensors = list(inputs)
        for each in self._tensors:
            if not isinstance(each, Tensor):
                raise TritonModelException(
                    f"inputs has an object of {type(each)}, expected a pb_utils.Tensor"
                )
        self._inputs = self._replies = self._sender = None
        self._trace = trace or InferenceTrace()
        self._release_flags = TRITONSERVER_REQUEST_RELEASE_ALL
        self._model = (model_name, model_version)
        self._iterates = False
        self._resident = of_caller()  # a thread that sends it may have nothing of the model

    @classmethod
    def _of_server(cls, values, iterates):
        """Of what request_values.cpp has made. `iterates`: it can be rescheduled."""
        self = cls.__new__(cls)
        number, self._request_id, self._correlation_id = values[0], values[1], values[2]
        self._flags, self._timeout, self._parameters = values[3], values[4], values[5]
        self._requested = set(values[6])
        self._inputs = inputs = _Inputs(number)
        self._replies = Replies(number)
        self._tensors = [
            Tensor._over(name, kind, shape, address, size, inputs)
            for name, kind, shape, address, size in values[7]
        ]
        self._sender = None
        self._trace = None
        self._release_flags = TRITONSERVER_REQUEST_RELEASE_ALL
        self._model = None
        self._iterates = iterates
        self._resident = None
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
            self._trace = InferenceTrace(text or None, self._inputs.number)
        return self._trace

    def is_cancelled(self):
        self._require_served("is_cancelled()")
        return ask_cancelled(server.request_is_cancelled, self._inputs.number)

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
        if flags == TRITONSERVER_REQUEST_RELEASE_RESCHEDULE and not self._iterates:
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
        """The response of the model that this is for, an error included; of a decoupled model,
        whatever it sends, one after the other."""
        return calls.execute(self._to_another_model("exec()"), decoupled)

    def async_exec(self, decoupled=False):
        """The same, to be awaited."""
        return calls.execute_async(self._to_another_model("async_exec()"), decoupled)

    def _to_another_model(self, what):
        if self._model is None:
            raise TritonModelException(
                f"{what} is for requests that the model has made, with a model_name"
            )
        return self

    def _require_served(self, what):
        if self._inputs is None:
            raise TritonModelException(f"{what} is for requests that execute() was given")


def get_input_tensor_by_name(inference_request, name):
    """The input of that name; None without one."""
    return next((each for each in inference_request.inputs() if each.name() == name), None)
