"""Runs the model.py of each instance that this interpreter has.

model_interpreter.cpp calls admit(), auto_complete(), start(), execute(), is_ready() and finalize(), with the
instance's key.
"""

import asyncio
import atexit
import gc
import importlib
import json
import os
import struct
import threading

import _multipy_triton_calls as calls
import _multipy_triton_requests as requests_module
import _multipy_triton_residents as residents
import _multipy_triton_responses as responses_module
import _multipy_triton_server as server
import triton_python_backend_utils as pb_utils
from _multipy_triton_log import Logger
from _multipy_triton_requests import InferenceRequest
from _multipy_triton_responses import InferenceResponse
from _multipy_triton_server import TritonModelException


class _Running(residents.Resident):
    """An instance, and once start() has returned its model's object."""

    def __init__(self, *of):
        super().__init__(*of, calls.Asker())
        self.loop = _EventLoop()
        self.model = None
        self.name = None
        self.path = None
        self.decoupled = False


def admit(key, repository, version, name, is_alone):
    """Before all else. `is_alone`: the interpreter has no other one."""
    if residents.of_key(key) is None:
        residents.admit(_Running(key, repository, version, name, is_alone))


def _import(resident, config):
    """The model's class. Its module is `model` in a package, so that it can import what lies beside it
    relatively, and what lies in its folder and in the model's as a module."""
    file = config.get("default_model_filename") or "model.py"
    path = os.path.join(resident.folder, file)
    if not os.path.isfile(path):
        raise TritonModelException(f"Python model file not found in '{path}'")
    resident.make_importable()
    module = importlib.import_module(resident.package + "." + file.removesuffix(".py"))
    if not hasattr(module, "TritonPythonModel"):
        raise TritonModelException(f"'{path}' has no class TritonPythonModel")
    return module.TritonPythonModel, path


def auto_complete(key, name, config):
    """The completed configuration, as JSON."""
    model_class, _ = _import(residents.of_key(key), json.loads(config))
    completed = pb_utils.ModelConfig(config)
    if hasattr(model_class, "auto_complete_config"):
        completed = model_class.auto_complete_config(completed)
        if not isinstance(completed, pb_utils.ModelConfig):
            raise TritonModelException(
                f"auto_complete_config function in model '{name}' must return a valid "
                "pb.ModelConfig object."
            )
    return json.dumps(completed.as_dict())


def start(key, args, decoupled):
    """Makes the model, and has it initialize itself."""
    running = residents.of_key(key)
    config = json.loads(args["model_config"])
    model_class, running.path = _import(running, config)
    batching = config.get("sequence_batching", {})
    running.iterates = bool(batching.get("iterative_sequence", False))
    running.name = args["model_instance_name"]
    running.decoupled = decoupled
    model = model_class()
    if hasattr(model, "initialize"):
        model.initialize(dict(args))
    running.model = model
    running.asker.allowed = True


def _started(key):
    """None if it is not here: this interpreter has taken the place of another one."""
    running = residents.of_key(key)
    return None if running is None or running.model is None else running


def is_started(key):
    return _started(key) is not None


def _finalize_at_exit():  # of an interpreter that another one has taken the place of
    for key in residents.keys():
        try:
            finalize(key)
        except Exception as error:
            Logger.log_error(f"finalize(): {type(error).__name__}: {error}")


atexit.register(_finalize_at_exit)


def finalize(key):
    running = residents.of_key(key)
    if running is None:
        return
    try:
        running.asker.allowed = False
        running.loop.stop()
        if hasattr(running.model, "finalize"):
            running.model.finalize()
    finally:
        running.asker.end()
        residents.dismiss(key)
        if not running.is_alone:
            running.forget()
            del running
            gc.collect()


def is_ready(key):
    """None if it is not here."""
    running = _started(key)
    if running is None:
        return None
    model = running.model
    if not hasattr(model, "is_ready"):
        return True
    answer = model.is_ready()
    if asyncio.iscoroutine(answer):
        answer = running.loop.run(answer).result()
    if not isinstance(answer, bool):
        raise TritonModelException("is_ready() must return a boolean value")
    return answer


def execute(key, batch):
    """Executes requests of the server. They have been answered when it returns, but for those of a
    decoupled model, or whose response sender the model keeps. None if it is not here, else True."""
    running = _started(key)
    if running is None:
        return None
    requests = [InferenceRequest._of_server(values, running.iterates) for values in batch]
    numbers = [values[0] for values in batch]
    server.require(server.accept(struct.pack(f"={len(numbers)}Q", *numbers), len(numbers)))
    if not hasattr(running.model, "execute"):
        raise TritonModelException(
            f"Python model {running.path} does not implement `execute` method."
        )
    answer = running.model.execute(requests)
    if asyncio.iscoroutine(answer):
        if running.decoupled:
            running.loop.run_in_background(answer)
            return True
        answer = running.loop.run(answer).result()
    if answer is not None:
        _respond(running, requests, answer)
    return True


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
                    target=self._run, args=(self._loop,), name="triton asyncio", daemon=True
                ).start()
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    @staticmethod
    def _run(loop):
        loop.run_forever()
        loop.close()

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
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._loop.stop)
