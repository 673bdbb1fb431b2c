"""What a model can have the server do with models."""

import ctypes

import _multipy_triton_rows as rows
import _multipy_triton_server as server
from _multipy_triton_server import TritonModelException


def load_model(model_name, config="", files=None):
    """Returns when it serves. `config`: JSON in place of its config.pbtxt; `files`: bytes by
    "file:<path in the model's folder>"."""
    files = {} if files is None else files
    if not isinstance(files, dict):
        raise TritonModelException(
            f"failed to load model '{model_name}', files should be a dictionary of file paths and "
            "file contents"
        )
    row = rows.pairs(files)
    error = server.load_model(
        server.handle, server.to_bytes(model_name), server.to_bytes(config), row, len(row)
    )
    server.require(error, "Failed to load model: ")


def unload_model(model_name, unload_dependents=False):
    """Returns when the server has begun to."""
    error = server.unload_model(
        server.handle, server.to_bytes(model_name), int(bool(unload_dependents))
    )
    server.require(error, "Failed to unload model: ")


def is_model_ready(model_name, model_version=""):
    ready = ctypes.c_int(0)
    try:
        version = int(model_version) if model_version != "" else -1
    except ValueError:
        raise TritonModelException(
            f"model_version is {model_version!r}, expected the text of a number, or none"
        ) from None
    error = server.model_is_ready(
        server.handle, server.to_bytes(model_name), version, ctypes.byref(ready)
    )
    server.require(error, "Failed to check model readiness: ")
    return ready.value != 0
