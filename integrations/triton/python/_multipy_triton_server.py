"""What Python code can ask of the server: the C functions of python_functions.h.

They are called through ctypes, which gives the GIL up for each. Their names and addresses come by
connect(), before anything else here is used.
"""

import ctypes

_TEXT = ctypes.c_char_p
_NUMBER = ctypes.c_uint64
_FLAGS = ctypes.c_uint32
_REAL = ctypes.c_double
_SERVER = ctypes.c_void_p
_NUMBER_OUT = ctypes.POINTER(_NUMBER)

# Name: what it returns, what it takes. One that returns a text returns None, or an error.
_DECLARATIONS = {
    "write_log": (None, ctypes.c_int, _TEXT, ctypes.c_int, _TEXT),
    "is_logged": (ctypes.c_int, ctypes.c_int),
    "accept": (_TEXT, _TEXT, _NUMBER),
    "send_response": (_TEXT, _NUMBER, _TEXT, _NUMBER, _FLAGS),
    "send_error": (_TEXT, _NUMBER, ctypes.c_int, _TEXT, _FLAGS),
    "send_last": (_TEXT, _NUMBER, _FLAGS),
    "request_is_cancelled": (_TEXT, _NUMBER, ctypes.POINTER(ctypes.c_int)),
    "responder_is_cancelled": (_TEXT, _NUMBER, ctypes.POINTER(ctypes.c_int)),
    "set_release_flags": (_TEXT, _NUMBER, _FLAGS),
    "trace_context": (_TEXT, _NUMBER, ctypes.POINTER(ctypes.c_char_p)),
    "drop_request": (None, _NUMBER),
    "drop_responder": (None, _NUMBER),
    "send_call": (_TEXT, _SERVER, _TEXT, _NUMBER, ctypes.c_int, _NUMBER_OUT),
    "next_response": (
        _TEXT, _NUMBER, _FLAGS, _NUMBER_OUT, ctypes.POINTER(ctypes.c_void_p), _NUMBER_OUT,
    ),
    "cancel_call": (_TEXT, _NUMBER),
    "drop_call": (ctypes.c_int, _NUMBER, _FLAGS),
    "drop_response": (None, _NUMBER),
    "make_family": (_TEXT, ctypes.c_int, _TEXT, _TEXT, _NUMBER_OUT),
    "make_metric": (_TEXT, _NUMBER, _TEXT, _NUMBER, ctypes.POINTER(_REAL), _NUMBER, _NUMBER_OUT),
    "increment_metric": (_TEXT, _NUMBER, _REAL),
    "set_metric": (_TEXT, _NUMBER, _REAL),
    "observe_metric": (_TEXT, _NUMBER, _REAL),
    "metric_value": (_TEXT, _NUMBER, ctypes.POINTER(_REAL)),
    "drop_metric": (None, _NUMBER),
    "drop_family": (None, _NUMBER),
    "load_model": (_TEXT, _SERVER, _TEXT, _TEXT, _TEXT, _NUMBER),
    "unload_model": (_TEXT, _SERVER, _TEXT, ctypes.c_int),
    "model_is_ready": (_TEXT, _SERVER, _TEXT, ctypes.c_int64, ctypes.POINTER(ctypes.c_int)),
}

handle = None  # of the server itself; set by connect()


class TritonModelException(Exception):
    """An error of the server's, or of how this module is used."""


def connect(addresses):
    """Makes functions of the addresses; they are attributes of this module. Once."""
    global handle
    if handle is not None:
        return
    handle = addresses["server"]
    for name, (result, *arguments) in _DECLARATIONS.items():
        globals()[name] = ctypes.CFUNCTYPE(result, *arguments)(addresses[name])


def require(error, doing=""):
    """Raises the error that a function has returned, if it has, behind what was being done."""
    if error is not None:
        raise TritonModelException(doing + error.decode("utf-8", "replace"))


def to_bytes(text):
    """A text as a C function takes it: a null character would end it."""
    return str(text).encode("utf-8", "replace").replace(b"\0", b" ")
