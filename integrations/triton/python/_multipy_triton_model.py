"""Runs the model.py of one instance: this interpreter has no other one.

model_interpreter.cpp calls auto_complete(), start(), execute(), is_ready() and finalize().
"""

import asyncio
import atexit
import importlib
import json
import os
import struct
import sys
import threading

import _multipy_triton_calls as calls
import _multipy_triton_requests as requests_module
import _multipy_triton_responses as responses_module
import _multipy_triton_server as server
import triton_python_backend_utils as pb_utils
from _multipy_triton_log import Logger
from _multipy_triton_requests import InferenceRequest
from _multipy_triton_responses import InferenceResponse
from _multipy_triton_server import TritonModelException


class _Running:
    """The model's object, and what start() was told."""

    def __init__(self, model, name, path, decoupled):
        self.model = model
        self.name = name
        self.path = path
        self.decoupled = decoupled


_running = None


def _import(repository, version, config):
    """The model's class. Its module is `<version>.model`, so that it can import what lies beside it
    relatively, and what lies in its folder and in the model's as a module."""
    folder = os.path.join(repository, version)
    file = config.get("default_model_filename") or "model.py"
    path = os.path.join(folder, file)
    if not os.path.isfile(path):
        raise TritonModelException(f"Python model file not found in '{path}'")
    for place in (folder, repository):
        if place not in sys.path:
            sys.path.append(place)
    pb_utils._model_dir = folder
    module = importlib.import_module(version + "." + file.removesuffix(".py"))
    if not hasattr(module, "TritonPythonModel"):
        raise TritonModelException(f"'{path}' has no class TritonPythonModel")
    return module.TritonPythonModel, path


def auto_complete(repository, version, name, config):
    """The completed configuration, as JSON."""
    model_class, _ = _import(repository, version, json.loads(config))
    completed = pb_utils.ModelConfig(config)
    if hasattr(model_class, "auto_complete_config"):
        completed = model_class.auto_complete_config(completed)
        if not isinstance(completed, pb_utils.ModelConfig):
            raise TritonModelException(
                f"auto_complete_config function in model '{name}' must return a valid "
                "pb.ModelConfig object."
            )
    return json.dumps(completed.as_dict())


def start(repository, version, name, args, decoupled):
    """Makes the model, and has it initialize itself."""
    global _running
    config = json.loads(args["model_config"])
    model_class, path = _import(repository, version, config)
    batching = config.get("sequence_batching", {})
    requests_module.iterates = bool(batching.get("iterative_sequence", False))
    model = model_class()
    if hasattr(model, "initialize"):
        model.initialize(dict(args))
    _running = _Running(model, args["model_instance_name"], path, decoupled)
    calls.allowed = True


def _finalize_at_exit():  # of an interpreter that another one has taken the place of
    finalize()


atexit.register(_finalize_at_exit)


def finalize():
    global _running
    running, _running = _running, None
    if running is None:
        return
    calls.allowed = False
    _loop.stop()
    try:
        if hasattr(running.model, "finalize"):
            running.model.finalize()
    finally:
        calls.end()


def is_ready():
    model = _running.model
    if not hasattr(model, "is_ready"):
        return True
    answer = model.is_ready()
    if asyncio.iscoroutine(answer):
        answer = _loop.run(answer).result()
    if not isinstance(answer, bool):
        raise TritonModelException("is_ready() must return a boolean value")
    return answer


def execute(batch):
    """Executes requests of the server. They have been answered when it returns, but for those of a
    decoupled model, or whose response sender the model keeps."""
    requests = [InferenceRequest._of_server(values) for values in batch]
    numbers = [values[0] for values in batch]
    server.require(server.accept(struct.pack(f"={len(numbers)}Q", *numbers), len(numbers)))
    running = _running
    if not hasattr(running.model, "execute"):
        raise TritonModelException(
            f"Python model {running.path} does not implement `execute` method."
        )
    answer = running.model.execute(requests)
    if asyncio.iscoroutine(answer):
        if running.decoupled:
            _loop.run_in_background(answer)
            return
        answer = _loop.run(answer).result()
    if answer is not None:
        _respond(running, requests, answer)


def _respond(running, requests, responses):
    """Sends what execute() has returned. (The texts are those of Triton's Python backend.)"""
    if running.decoupled:
        raise TritonModelException(
            f"Python model '{running.name}' is using the decoupled mode and the execute function "
            "must return None."
        )
    if not isinstance(responses, list):
        raise TritonModelException(
            f"Expected a list in the execute return, found type '{type(responses)}'."
        )
    if len(responses) != len(requests):
        raise TritonModelException(
            "Number of InferenceResponse objects do not match the number of InferenceRequest "
            f"objects. InferenceRequest(s) size is:{len(requests)}, and InferenceResponse(s) size "
            f"is:{len(responses)}"
        )
    for request, response in zip(requests, responses):
        _check(request, response)
    for request, response in zip(requests, responses):
        if response is not None:
            _send(request, response)


def _check(request, response):
    if response is None:
        return
    if request._release_flags == requests_module.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE:
        raise TritonModelException(
            "Expected a None object in the execute function return list for reschduled request, "
            f"found type '{type(response)}'."
        )
    if not isinstance(response, InferenceResponse):
        raise TritonModelException(
            "Expected an 'InferenceResponse' object in the execute function return list, found "
            f"type '{type(response)}'."
        )


def _send(request, response):
    final = responses_module.TRITONSERVER_RESPONSE_COMPLETE_FINAL
    try:
        responses_module.send(request._replies, request._requested, response, final)
    except TritonModelException as error:
        # This request's alone: the others have answers of their own. (One that is closed has had its
        # answer; what it got too much is the log's.)
        text = f"cannot send the response of request '{request._request_id}': {error}"
        refused = server.send_error(
            request._replies.number, int(pb_utils.TritonError.INTERNAL), server.to_bytes(text), final
        )
        if refused is not None:
            Logger.log_error(text)


class _EventLoop:
    """The loop in which coroutines of this model run: a thread's, started by the first."""

    def __init__(self):
        self._lock = threading.Lock()
        self._loop = None
        self._background = set()

    def run(self, coroutine):
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._loop.run_forever, name="triton asyncio", daemon=True
                ).start()
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def run_in_background(self, coroutine):
        future = self.run(coroutine)
        self._background.add(future)
        future.add_done_callback(self._ended)

    def _ended(self, future):
        self._background.discard(future)
        if not future.cancelled() and future.exception() is not None:
            error = future.exception()
            Logger.log_error(f"execute() of a decoupled model: {type(error).__name__}: {error}")

    def stop(self):
        with self._lock:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)


_loop = _EventLoop()
