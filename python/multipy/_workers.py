"""A worker: an interpreter in this process, and what it is asked."""

import concurrent.futures
import functools
import importlib
import importlib.util
import pathlib
import sys

_NAME = "_multipy_crossing"
SOURCE = pathlib.Path(__file__).with_name("_crossing.py")


def _load_crossing():
    """The module that both sides have, under the name by which their pickles call it."""
    if _NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(_NAME, SOURCE)
        sys.modules[_NAME] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[_NAME]


crossing = _load_crossing()


def refuse_in_worker():
    if crossing.IN_WORKER:
        raise RuntimeError("an interpreter of a pool has no pools of its own: make it outside of tasks")


@functools.cache
def is_compiled():
    return importlib.util.find_spec("multipy._host") is not None


def require_host():
    if not is_compiled():
        raise ImportError(
            "multipy is installed without its compiled part (multipy._host): install it without "
            "--config-settings=wheel.cmake=false"
        )


def host_module():
    require_host()
    return importlib.import_module("multipy._host")


class Ended(Exception):
    """A task was ended, which may have left its interpreter half-way through something."""


class TaskCancelled(Ended, concurrent.futures.CancelledError):
    pass


class TaskTimedOut(Ended, concurrent.futures.TimeoutError):
    pass


class Worker:
    """An interpreter, in which this thread's tasks are run, one after the other."""

    def __init__(self):
        self._host = host_module()
        self._worker = self._host.Worker(sys.prefix, SOURCE.read_text("utf-8"), list(sys.argv))
        self.run(crossing.Pickle((crossing.prepare, (list(sys.path), crossing.main_of_program()), {})))

    def run(self, pickle, seconds=None):
        """Its result. Raises what it has raised."""
        try:
            answer = self._worker.call(pickle, seconds)
        except self._host.TaskInterrupted as error:
            raise TaskCancelled(str(error)) from None
        except self._host.TaskTimedOut as error:
            raise TaskTimedOut(str(error)) from None
        return crossing.opened(answer)

    def interrupt(self):
        self._worker.interrupt()

    def close(self):
        self._worker.close()
