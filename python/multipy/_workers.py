"""A worker: an interpreter in this process, and what it is asked."""

import concurrent.futures
import importlib
import importlib.util
import pathlib
import sys

_NAME = "_multipy_crossing"
_SOURCE = pathlib.Path(__file__).with_name("_crossing.py")


def _load_crossing():
    """The module that both sides have, under the name by which their pickles call it."""
    if _NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(_NAME, _SOURCE)
        sys.modules[_NAME] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[_NAME]


crossing = _load_crossing()


class Ended(Exception):
    """A task was ended, which may have left its interpreter half-way through something."""


class TaskCancelled(Ended, concurrent.futures.CancelledError):
    pass


class TaskTimedOut(Ended, concurrent.futures.TimeoutError):
    pass


class Worker:
    """An interpreter, in which this thread's tasks are run, one after the other."""

    def __init__(self):
        self._host = importlib.import_module("multipy._host")
        self._worker = self._host.Worker(sys.prefix, _SOURCE.read_text("utf-8"), list(sys.argv))
        self.run(crossing.Pickle((crossing.prepare, (list(sys.path), crossing.main_of_program()), {})))

    def run(self, pickle, seconds=None):
        """Its result. Raises what it has raised."""
        try:
            raised, data, buffers, tensors = self._worker.call(pickle.data, pickle.buffers, pickle.tensors, seconds)
        except self._host.TaskInterrupted as error:
            raise TaskCancelled(str(error)) from None
        except self._host.TaskTimedOut as error:
            raise TaskTimedOut(str(error)) from None
        result = crossing.load(data, buffers, tensors)
        if not raised:
            return result
        error, text = result
        try:
            raise crossing.with_cause(error, text)
        finally:
            del error, result

    def interrupt(self):
        self._worker.interrupt()

    def close(self):
        self._worker.close()
