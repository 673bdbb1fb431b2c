"""What every interpreter runs once, right after it has started."""

import _signal
import gc
import sys

# Here, on the thread that will finalise: threading takes the thread that first
# imports it for the main one, and waits at the end until that one has gone. On
# a thread of the program that would be for ever.
import threading  # noqa: F401
from importlib.machinery import ModuleSpec, PathFinder

import _multipy_host


class RegisteredModules:
    """Finder and loader of modules given to registerModuleSource.

    Asked before all other finders: what the program registers wins. The host is
    asked at each import, so a module registered later is found too.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        if _multipy_host.module_source(name) is None:
            return None
        spec = ModuleSpec(name, RegisteredModules, origin=f"<registered/{name}.py>")
        spec.has_location = True  # sets __file__, for tracebacks and inspect
        return spec

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        import linecache

        name = module.__spec__.name
        source = _multipy_host.module_source(name)
        # Tracebacks find their lines here at once. Left to be loaded lazily, the
        # first ones of several threads lose them (linecache.updatecache pops an
        # entry before it fills it).
        lines = source.splitlines(keepends=True)
        linecache.cache[module.__spec__.origin] = (len(source), None, lines, module.__spec__.origin)
        exec(compile(source, module.__spec__.origin, "exec"), module.__dict__)

    @staticmethod
    def get_source(name):
        """For tracebacks (linecache)."""
        return _multipy_host.module_source(name)


class TorchFinder:
    """Has `import torch` executed without garbage collections, a tenth of its time.

    It makes a quarter of a million objects that stay, and CPython looks through all of
    them again and again meanwhile.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(TorchFinder)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _WithoutCollections(spec.loader)
        return spec


class _WithoutCollections:
    def __init__(self, real):
        self._real = real

    def create_module(self, spec):
        return self._real.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._real
        was_on = gc.isenabled()
        gc.disable()
        try:
            self._real.exec_module(module)
        finally:
            if was_on:
                _take_for_old()
                gc.enable()


def _take_for_old():
    """What there is goes to the oldest generation, as if it had survived collections.

    Otherwise the next allocation would start a collection that looks through all of it,
    a twelfth of the import's time, to find 2 % of garbage.
    """
    if gc.get_freeze_count() == 0:  # else somebody else has frozen objects, which stay so
        gc.freeze()
        gc.unfreeze()


def leave_signals_alone():
    """Importing _signal above made Python believe that SIGINT is its own.

    The host kept it from telling the kernel (interpreter/signals.h); this tells
    Python, so that it does not "restore" the signal when it ends.
    """
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def reload_environment_as_it_is():
    """os.reload_environ (CPython 3.14 and later) reads a variable that has to be brought up
    to date first (interpreter/process_environment.cpp)."""
    import os

    create = getattr(os, "_create_environ", None)
    if create is None:
        return

    def look_and_create():
        _multipy_host.look_at_environ()
        return create()

    os._create_environ = look_and_create


# Some of those that every CPython has as extension modules, unless they are built in.
_STANDARD_EXTENSIONS = ("_csv", "_json", "_posixsubprocess", "_random", "_socket", "_struct", "math", "select")


def check_standard_library():
    """The environment's Python may be built another way than ours: Debian's has modules in
    its executable that ours looks for in files. Better refused now than at some import."""
    missing = [
        name
        for name in _STANDARD_EXTENSIONS
        if name not in sys.builtin_module_names and PathFinder.find_spec(name) is None
    ]
    if missing:
        raise ImportError(
            f"found no extension modules {', '.join(missing)} of the standard library in "
            f"{', '.join(sys.path)}; expected them there, as in the Python that multipy was "
            "built for: this installation has them inside its own executable. Build multipy "
            "for it, or choose an environment made from a Python that is built alike"
        )


def start(extra_paths):
    leave_signals_alone()
    reload_environment_as_it_is()
    check_standard_library()
    sys.meta_path.insert(0, TorchFinder)
    sys.meta_path.insert(0, RegisteredModules)
    sys.path.extend(extra_paths)
    # Whole lines of several interpreters stay whole, and none is lost when the
    # program ends without destroying its interpreters.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(line_buffering=True)
