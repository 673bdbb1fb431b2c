"""A worker: an interpreter in this process, and what it is asked."""

import concurrent.futures
import functools
import importlib
import importlib.util
import itertools
import os
import pathlib
import re
import subprocess
import sys
import threading

_FOLDER = pathlib.Path(__file__).absolute().parent
_EXECUTE_FILE = """import sys
from _frozen_importlib_external import SourceFileLoader
__file__ = {!r}
SourceFileLoader(__name__, __file__).exec_module(sys.modules[__name__])
"""


def _load(name):
    """A module that both sides have, under the name by which their pickles call it."""
    full = f"_multipy_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, _FOLDER / f"_{name}.py")
        sys.modules[full] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[full]


by_value = _load("by_value")
crossing = _load("crossing")
loop = _load("loop")
sharing = _load("sharing")
inside = _load("inside")


def sources():
    """(name, source) of the modules that interpreters have of us; last the one that the extension calls.

    Each executes its file, of which the program has left compiled code beside it.
    """
    names = "by_value", "crossing", "loop", "sharing", "inside"
    return [(f"_multipy_{name}", _EXECUTE_FILE.format(str(_FOLDER / f"_{name}.py"))) for name in names]


# What is in a script is of __mp_main__ in a worker that has run it, as with multiprocessing (which does the same).
sys.modules.setdefault("__mp_main__", sys.modules["__main__"])

IN_FORKED_CHILD = (
    "this pool's interpreters are in the parent of this forked process, which can have none of its own: fork before the "
    "first pool is made, or start processes by spawn or forkserver"
)


def search_path():
    """sys.path as interpreters get it: the import system looks at nothing but its str."""
    return [str.__str__(entry) for entry in sys.path if isinstance(entry, str)]


def arguments():
    """sys.argv, which a program may have changed or removed."""
    return [str(word) for word in getattr(sys, "argv", ())]


def variables(more=()):
    """The environment variables that an interpreter begins with. Like a process it has its own, so that what a
    task sets there is not the program's."""
    found = {**os.environ, **dict(more)}
    return [(name, value) for name, value in found.items() if name]  # "=x" stands in some environments


def python_options():
    """-O, -W, -X and so on: what a process that multiprocessing starts is given, less what is not an interpreter's own
    (-d of the parser, and -S, as interpreters need site)."""
    return [option for option in subprocess._args_from_interpreter_flags() if not re.fullmatch("-[dS]+", option)]


def resource_tracker():
    """The descriptor of the program's, where it has one: an interpreter would start another process for that."""
    tracker = getattr(sys.modules.get("multiprocessing.resource_tracker"), "_resource_tracker", None)
    return getattr(tracker, "_fd", None)


def refuse_in_worker():
    if by_value.IN_WORKER:
        raise RuntimeError("an interpreter of a pool has no pools of its own: make it outside of tasks")


@functools.cache
def require_host():
    """Refuses, before anything of it is loaded, a CPython or a torch that the compiled part is not for."""
    if importlib.util.find_spec("multipy._host") is None:
        raise ImportError(
            "multipy is installed without its compiled part (multipy._host): install it without "
            "--config-settings=wheel.cmake=false"
        )
    from multipy import _built

    python = "%d.%d" % sys.version_info[:2]
    torch = _torch_version()
    if (python, torch.partition("+")[0]) != (_built.PYTHON, _built.TORCH.partition("+")[0]):
        raise ImportError(
            f"this multipy was built for CPython {_built.PYTHON} with torch {_built.TORCH}, and this is CPython {python} "
            f"with {'torch ' + torch if torch else 'no torch'}: install a wheel for this pair, or build one from "
            "multipy's sources in this environment (pip install --force-reinstall --no-deps --no-build-isolation .)"
        )


def _torch_version():
    """Of the torch that would be imported; empty if there is none."""
    spec = importlib.util.find_spec("torch")
    for folder in spec.submodule_search_locations or () if spec else ():
        try:
            text = pathlib.Path(folder, "version.py").read_text()
        except OSError:
            continue
        if found := re.search(r"^__version__ = ['\"](.*?)['\"]", text, re.MULTILINE):
            return found[1]
    return ""


def host_module():
    require_host()
    return importlib.import_module("multipy._host")


class Ended(Exception):
    """A task was ended, which may have left its interpreter half-way through something."""


class TaskCancelled(Ended, concurrent.futures.CancelledError):
    pass


class TaskTimedOut(Ended, concurrent.futures.TimeoutError):
    pass


def slim(torch, importers=(), modules=()):
    """As a worker takes it: slim_torch, slim_importers and slim_modules."""
    for names in importers, modules:
        if isinstance(names, str):
            raise TypeError(f"expected a list of names, not {names!r}")
    return bool(torch), tuple(importers), tuple(modules)


_numbers = itertools.count(1)
MOST_FUNCTIONS = 16  # that a worker keeps


class Worker:
    """An interpreter, in which this thread's tasks are run, one after the other."""

    def __init__(self, slim=(True, (), ()), more_variables=()):
        self._host = host_module()
        self._functions, self._groups = {}, set()
        self._worker = self._host.Worker(sys.prefix, sources(), arguments(), slim, variables(more_variables), python_options())
        own = threading.current_thread().name, next(_numbers)
        of_program = search_path(), by_value.main_of_program(), resource_tracker()
        self.run(crossing.Pickle((inside.prepare_worker, (*own, *of_program), {})))

    def give_variables(self, groups, seconds=None, stop=None):
        """Those (_functions.py) that a pickle is about to name, if it has not got them."""
        if self._groups.issuperset(groups):
            return
        for group in groups:
            if group not in self._groups:
                self.run(group.pickle, seconds, stop)
                self._groups.add(group)
        for group in [group for group in self._groups if group.is_over and group not in groups]:
            self.run(crossing.Pickle((by_value.forget, (group.number,), {})), seconds, stop)
            self._groups.remove(group)

    def give(self, sent, seconds=None, stop=None):
        """A function (_functions.py) that a task is about to name, if it has not got it."""
        self.give_variables(sent.groups, seconds, stop)
        if sent.token not in self._functions:
            while len(self._functions) >= MOST_FUNCTIONS:
                longest_unused = next(iter(self._functions))
                self.run(crossing.Pickle((inside.forget_function, (longest_unused,), {})), seconds, stop)
                del self._functions[longest_unused]
            self.run(sent.pickle, seconds, stop)
        self._functions.pop(sent.token, None)
        self._functions[sent.token] = None

    def run(self, pickle, seconds=None, stop=None):
        """Its result. Raises what it has raised. `stop`, of the host module, ends it."""
        try:
            answer = self._worker.call(pickle, seconds, stop)
        except self._host.TaskInterrupted as error:
            raise TaskCancelled(str(error)) from None
        except self._host.TaskTimedOut as error:
            raise TaskTimedOut(str(error)) from None
        return crossing.opened(answer)

    def close(self):
        self._worker.close()
