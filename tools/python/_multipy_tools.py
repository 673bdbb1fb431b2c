"""What the command line program runs inside its interpreters."""

import os
import sys

import _multipy_bootstrap


# --- multipy run


def _exit_code(error):
    """Of SystemExit, as python itself takes it."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1


def _without_ours(traceback):
    """The traceback that python would print: it begins where the program does."""
    while traceback is not None and traceback.tb_frame.f_globals is globals():
        traceback = traceback.tb_next
    return traceback


class _MainThread:
    """The calling thread, as threading shows it while a script runs.

    Threads are daemons if the one is that starts them, which a thread that Python has not made is. Those that a
    script starts are none, so that the end waits for them. After the script it is shown no longer, as python's
    main thread is over then: threads may wait for that.
    """

    def __enter__(self):
        self._process = os.getpid()
        _multipy_bootstrap.after("threading", self._show)

    def __exit__(self, *_):
        threading = sys.modules.get("threading")
        if threading and os.getpid() == self._process:  # in a child of fork() it is the main thread
            threading.current_thread()._daemonic = True
            threading._active.pop(threading.get_ident(), None)

    @staticmethod
    def _show(threading):
        thread = threading.current_thread()
        thread._daemonic = False
        if thread.name == "Dummy-1":  # which has taken the first number
            threading._counter = threading._count(1).__next__
        thread.name = "MainThread"


def _run_main(work):
    process = os.getpid()
    try:
        with _MainThread():
            work()
        code = 0
    except SystemExit as error:
        code = _exit_code(error)
    except BaseException as error:
        error.__traceback__ = _without_ours(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    if os.getpid() != process:
        _end_child(code)
    _flush()
    return code


def _flush():
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _end_child(code):
    """A child of the program's own os.fork(): it ends as one of python's does, and not in
    the C++ program, of which it has one thread only."""
    import atexit

    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    atexit._run_exitfuncs()
    _flush()
    os._exit(code)


def _search_first(directory):
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, directory)


def run_script(path):
    """As `python path`: a file, or a directory or zip file with __main__.py. Modules that
    python itself has not imported by then are not imported here either: the script's folder
    may have others of their names."""
    from _frozen_importlib_external import FileFinder, PathFinder, SourceFileLoader
    from _io import open_code

    def run_file():
        _search_first(os.path.dirname(os.path.realpath(path)))
        with open_code(path) as file:
            code = compile(file.read(), path, "exec")
        main = sys.modules["__main__"].__dict__
        main.update(__file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path))
        exec(code, main)

    def run_archive():
        import runpy

        sys.path.insert(0, path)
        runpy._run_module_as_main("__main__", alter_argv=False)

    if not os.path.exists(path):
        print(f"can't open file {path!r}: there is no such file", file=sys.stderr)
        return 2
    path = os.path.join(os.getcwd(), path)  # as python makes it, though not in sys.argv
    is_file = isinstance(PathFinder._path_importer_cache(path), (type(None), FileFinder))
    return _run_main(run_file if is_file and not os.path.isdir(path) else run_archive)


def run_module(name):
    """As `python -m name`."""
    import runpy

    def run():
        _search_first(os.getcwd())
        runpy._run_module_as_main(name)

    return _run_main(run)


# --- multipy repl

_console_thread = None


def interact(banner):
    import code
    import threading

    global _console_thread
    try:
        import readline
        import rlcompleter  # noqa: F401

        readline.parse_and_bind("tab: complete")
    except ImportError:
        pass  # a Python without line editing
    _search_first("")
    main = sys.modules["__main__"].__dict__
    _console_thread = threading.get_ident()
    return _run_main(lambda: code.interact(banner=banner, local=main, exitmsg=""))


def interrupt():
    """KeyboardInterrupt for what the console is executing."""
    import ctypes

    if _console_thread is not None:
        ident = ctypes.c_ulong(_console_thread)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(KeyboardInterrupt))


# --- multipy explain, doctor


def files_of(name):
    """Where a module's code lies: a file, or the directories of a package."""
    import importlib.util

    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations is not None:
        return list(spec.submodule_search_locations)
    return [spec.origin] if spec.has_location else []


def version_of(name):
    """Of an installed distribution; empty if there is none."""
    import importlib.metadata

    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def import_module(name):
    import importlib

    importlib.import_module(name)
