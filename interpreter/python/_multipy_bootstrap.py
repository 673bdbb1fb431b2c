"""What every interpreter runs once, right after it has started."""

import _imp
import _signal
import gc
import posix
import sys

# As importlib.machinery has them, which is another file to load.
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import PathFinder

import _multipy_gates as gates
import _multipy_host


class RegisteredModules:
    """Finder and loader of modules given to registerModuleSource.

    Asked before all other finders: what the program registers wins. The host is
    asked at each import, so a module registered later is found too.
    """

    torch_is_executing = False
    _lines = {}  # linecache's entries

    @staticmethod
    def find_spec(name, path=None, target=None):
        if RegisteredModules.torch_is_executing:
            _multipy_host.forget_source_lines()
        if _multipy_host.module_source(name) is None:
            return None
        spec = ModuleSpec(
            name,
            RegisteredModules,
            origin=RegisteredModules._origin_of(name),
            is_package=RegisteredModules.is_package(name),
        )
        spec.has_location = True  # sets __file__, for tracebacks and inspect
        return spec

    @staticmethod
    def _origin_of(name):
        # (Without a slash: SyntaxError shows what comes after the last one.)
        return f"<registered {name}.py>"

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        name, origin = module.__spec__.name, module.__spec__.origin
        source = _multipy_host.module_source(name)
        # Tracebacks find their lines in linecache at once. Left to be loaded lazily, the
        # first ones of several threads lose them (linecache.updatecache pops an
        # entry before it fills it).
        lines = len(source), None, source.splitlines(keepends=True), origin
        RegisteredModules._lines[origin] = lines
        cache = getattr(sys.modules.get("linecache"), "cache", None)
        if cache is not None:  # else it has not been executed: that looks at _lines
            cache[origin] = lines
        exec(compile(source, origin, "exec"), module.__dict__)

    @classmethod
    def execute_linecache(cls, loader, module):
        loader.exec_module(module)
        module.cache.update(cls._lines)

    @staticmethod
    def get_code(name):
        """For runpy."""
        return compile(_multipy_host.module_source(name), RegisteredModules._origin_of(name), "exec")

    @staticmethod
    def is_package(name):
        return _multipy_host.has_modules_below(name)

    @staticmethod
    def get_source(name):
        """For tracebacks (linecache)."""
        return _multipy_host.module_source(name)


class RegisteredPackages:
    """Finder of packages that are not installed, but for modules registered below their names.

    Asked after all other finders: with "tools.strings" registered, `tools` is what is
    installed under that name, if anything is.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not _multipy_host.has_modules_below(name):
            return None
        return ModuleSpec(name, None, is_package=True)  # a namespace package


_OWN_PACKAGE_DOC = """What the program's C++ library multipy has for Python code.

Interrupted    raised in a call that the program interrupts; a BaseException
"""


class _OwnPackage:
    """Finder of `multipy`, in which Python code finds what concerns it of multipy: Interrupted.

    That is added to the package as it is installed or registered. Where there is none, a module
    with that alone stands for it.
    """

    NAME = "multipy"

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != cls.NAME:
            return None
        for finder in sys.meta_path:
            if finder is cls or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is None:
                continue
            if spec.loader is None:  # folders of that name alone, or modules registered below it
                spec.loader = cls
            elif hasattr(spec.loader, "exec_module"):
                spec.loader = _LoaderOnce(spec.loader, cls)
            return spec
        return ModuleSpec(name, cls)

    @staticmethod
    def create_module(spec):
        return None

    @classmethod
    def exec_module(cls, module):
        module.__doc__ = _OWN_PACKAGE_DOC
        cls.complete(module)

    @classmethod
    def execute(cls, loader, module):
        loader.exec_module(module)
        cls.complete(module)

    @staticmethod
    def complete(module):
        module.Interrupted = _multipy_host.interrupted()


class _OnFirstImport:
    """Finder of one module, which `execute(loader, module)` is to execute the first time.

    Then `calls` are called with it; before it, what is in `before`.
    """

    def __init__(self, name, execute=lambda loader, module: loader.exec_module(module), calls=()):
        self.name = name
        self._execute = execute
        self.before, self.calls = [], list(calls)

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _LoaderOnce(spec.loader, self)
        return spec

    def execute(self, loader, module):
        for call in self.before:
            call()
        self._execute(loader, module)
        for call in self.calls:
            call(module)
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def before(name, call):
    """Has `call` called before a module is executed, by the thread that imports it, if it has not been."""
    if name not in sys.modules:
        _first_import_of(name).before.append(call)


def after(name, call):
    """Has `call` called with a module that has been executed: now, or by the thread that imports it."""
    if name in sys.modules:
        call(sys.modules[name])
    else:
        _first_import_of(name).calls.append(call)


def _first_import_of(name):
    for finder in sys.meta_path:
        if isinstance(finder, _OnFirstImport) and finder.name == name:
            return finder
    sys.meta_path.insert(0, finder := _OnFirstImport(name))
    return finder


class _MetaPath(list):
    """sys.meta_path, of which an import asks the finders that are there when it begins.

    Going through a plain list, it would miss one when another thread removes one that it has
    been asked already: ModuleNotFoundError for a module that is there.
    """

    def __iter__(self):
        return iter(self[:])


class _LoaderOnce:
    """A module's real loader, but for how it is executed."""

    def __init__(self, real, finder):
        self._real = real
        self._finder = finder

    def __getattr__(self, name):
        return getattr(self._real, name)

    def create_module(self, spec):
        return self._real.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._real
        self._finder.execute(self._real, module)


def _execute_threading(loader, module):
    """In the thread that will finalise: threading takes the thread that executes it for the
    main one, and waits at the end until that one has gone. On a thread of the program that
    would be for ever."""
    _multipy_host.run_on_owner(lambda: loader.exec_module(module))


def _execute_torch(loader, module):
    """Without garbage collections, a tenth of the import's time: it makes a quarter of a
    million objects that stay, and CPython looks through all of them again and again
    meanwhile. Without the source lines that it looks at and leaves
    (interpreter/cpython/source_lines.h)."""
    # Before torch's code is on the stack: what it initialises may import this again.
    import threading  # noqa: F401

    was_on = gc.isenabled()
    gc.disable()
    RegisteredModules.torch_is_executing = True
    try:
        loader.exec_module(module)
    finally:
        RegisteredModules.torch_is_executing = False
        _multipy_host.forget_source_lines()
        if was_on:
            _take_for_old()
            gc.enable()


class _SlimTorch:
    """Finder of torch, as slim interpreters import it (_multipy_slim.py): makes that ready before
    torch is looked for first, so that an interpreter without torch does without."""

    importers = modules = ()  # of InterpreterOptions, slimImporters and slimModules
    # Each imports those before it.
    MODULES = (
        "_multipy_needed_classes",
        "_multipy_lazy_names",
        "_multipy_lazy_modules",
        "_multipy_finder",
        "_multipy_slim_compiler",
        "_multipy_slim_meta",
        "_multipy_slim_parts",
        "_multipy_slim_types",
        "_multipy_slim",
    )

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "torch" or cls not in sys.meta_path:
            return None
        sys.meta_path.remove(cls)
        for module in cls.MODULES:
            slim = _multipy_host.own_module(module)
        return slim.install(cls.importers, cls.modules).find_spec(name, path, target)


class _TorchImport:
    """Sees to it that torch, whose C++ part can be initialised once in an interpreter, is not
    imported again after that import has failed."""

    failure = None

    @classmethod
    def before_load(cls):
        if cls.failure is not None:
            raise ImportError(
                f"torch cannot be imported in this interpreter any more, since {cls.failure}. The "
                "C++ part of torch is initialised once in an interpreter: use another one, in "
                "place of this one",
                name="torch",
            )

    @classmethod
    def failed(cls, error):
        if cls.failure is not None or "torch._C" not in sys.modules:
            return  # as if there had been no import: the next one may find what this one missed
        import time

        when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
        what = f"{type(error).__name__}: {error}"
        cls.failure = f"its import failed at {when} with {what}"
        _multipy_host.report_broken(f"the import of torch failed at {when} with {what}")


def _execute_numexpr(loader, module):
    """The threads that it starts when it is imported, by pandas too, would wait for ever: the interpreter
    could not be unloaded. Where it is to work in one thread it ends them."""
    import atexit

    loader.exec_module(module)
    atexit.register(module.set_num_threads, 1)


# CPython 3.12 freezes some as it starts.
_FROZEN_BY_PYTHON = gc.get_freeze_count()


def _take_for_old():
    """What there is goes to the oldest generation, as if it had survived collections.

    Otherwise the next allocation would start a collection that looks through all of it,
    a twelfth of the import's time, to find 2 % of garbage.
    """
    if gc.get_freeze_count() == _FROZEN_BY_PYTHON:  # else other code has frozen objects, which stay so
        gc.freeze()
        gc.unfreeze()


def leave_signals_alone():
    """Importing _signal above made Python believe that SIGINT is its own.

    The host kept it from telling the kernel (interpreter/libc/signals.h); this tells
    Python, so that it does not "restore" the signal when it ends.
    """
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def reload_environment_as_it_is():
    """os.reload_environ (CPython 3.14 and later) reads a variable that has to be brought up
    to date first (interpreter/libc/environment_variables.cpp)."""
    import os

    create = getattr(os, "_create_environ", None)
    if create is None:
        return

    def look_and_create():
        _multipy_host.look_at_environ()
        return create()

    os._create_environ = look_and_create


def hold_others_while_forking():
    """Other interpreters run no Python while this one forks (src/runtime/interpreter/fork_hold.h).

    Handlers that are registered later, by logging for one, run before this one: they wait for
    Python's locks while nothing is held. CPython would take the lock of imports after it.
    """

    def before():
        _imp.acquire_lock()
        _multipy_host.hold_others()

    def after_in_parent():
        _multipy_host.let_others_go()
        _imp.release_lock()

    posix.register_at_fork(before=before, after_in_parent=after_in_parent, after_in_child=_imp.release_lock)


def know_real_paths():
    """os.path.realpath() of a path that is real already, sooner (interpreter/cpython/real_paths.h)."""
    posixpath = sys.modules.get("posixpath")
    if posixpath is None:  # os has not been imported: without site
        return
    find_out = posixpath.realpath
    lstat = posixpath.os.lstat

    def realpath(filename, *, strict=False):
        # Code that has put a function of its own in place of os.lstat wants it asked.
        if _multipy_host.is_real_path(filename) and posixpath.os.lstat is lstat:
            return filename
        return find_out(filename, strict=strict)

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(realpath, name, getattr(find_out, name))
    realpath.__wrapped__ = find_out  # whose source and signature inspect shows
    posixpath.realpath = realpath


# Some of those that every CPython has as extension modules, unless they are built in.
_STANDARD_EXTENSIONS = ("_csv", "_json", "_posixsubprocess", "_random", "_socket", "_struct", "math", "select")


def check_standard_library():
    """The environment's Python may be built another way than ours: Debian's has modules in
    its executable that ours looks for in files. Better refused now than at some import, but
    not looked for by each interpreter: it takes some 4 % of a bare one's start."""
    where = f"the standard library in {sys.path!a}"
    if _multipy_host.has_fact(where):
        return
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
    _multipy_host.publish_fact(where)


def leave_main_threads_as_they_are(threading):
    """Of a child of fork() the thread that forks is the main one. CPython up to 3.12 cannot end that
    (threading._shutdown) if it is one that threading did not start, as the program's all are."""
    if sys.version_info >= (3, 13):
        return

    def after_in_child():
        main = threading.main_thread()
        if main._tstate_lock is None:
            main._set_tstate_lock()

    import os

    os.register_at_fork(after_in_child=after_in_child)  # after threading's own


def let_threads_be_waited_for(threading):
    """threading takes a thread that it has not started for a daemon, and so what that starts. Here such a thread, of
    the program, is what a main thread is in a process: what it starts is waited for when Python ends."""
    make = threading._DummyThread.__init__

    def __init__(self):
        make(self)
        self._daemonic = False

    threading._DummyThread.__init__ = __init__


def start(extra_paths, slim_torch, slim_importers, slim_modules):
    leave_signals_alone()
    reload_environment_as_it_is()
    hold_others_while_forking()
    know_real_paths()
    check_standard_library()
    gates.install()
    gates.watch("torch", _TorchImport)
    sys.meta_path = _MetaPath(
        (
            _OwnPackage,
            RegisteredModules,
            _OnFirstImport("linecache", RegisteredModules.execute_linecache),
            _OnFirstImport(
                "threading",
                _execute_threading,
                [leave_main_threads_as_they_are, let_threads_be_waited_for],
            ),
            _OnFirstImport("torch", _execute_torch),
            _OnFirstImport("numexpr", _execute_numexpr),
            *sys.meta_path,
            RegisteredPackages,
        )
    )
    if slim_torch:
        _SlimTorch.importers, _SlimTorch.modules = slim_importers, slim_modules
        sys.meta_path.insert(0, _SlimTorch)
    if _OwnPackage.NAME in sys.modules:  # by a .pth file of the environment
        _OwnPackage.complete(sys.modules[_OwnPackage.NAME])
    sys.path.extend(extra_paths)
    # Whole lines of several interpreters stay whole, and none is lost when the
    # program ends without destroying its interpreters.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(line_buffering=True)
