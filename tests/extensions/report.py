"""What the extensions of this folder do; the same in plain Python and in each interpreter."""

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import threading


def report(arguments: list[str]) -> str:
    return json.dumps({"threads": threads(), "lookups": lookups(), "c_api": c_api(), "signals": signals()})


def threads() -> dict:
    import threading_module

    def work(n, kept):
        threading_module.keep(("kept", n))
        kept.append(threading_module.kept())

    kept = []
    workers = [threading.Thread(target=work, args=(n, kept)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    threading_module.keep([1, 2])  # dropped when this thread ends, which is not one of Python's
    main = threading.get_ident()
    return {
        "in pool": threading_module.call_in_pool(lambda: threading.get_ident() != main),
        "text": threading_module.call_in_pool(lambda: "text" * 1000)[:8],
        "kept": sorted(kept),
        "own": threading_module.kept(),
        "forks": threading_module.forks_seen_in_child(),
    }


def lookups() -> list[int]:
    before = sys.getdlopenflags()
    sys.setdlopenflags(before | os.RTLD_GLOBAL)
    import provider_module

    sys.setdlopenflags(before)
    import user_module

    assert provider_module.next is not None
    return [user_module.next(how) for how in ("capsule", "symbol", "dlsym", "capsule")]


def signals() -> list:
    """All interpreters at once want to know when their children end, like uvloop."""
    import signals_module

    told = signals_module.watch(signal.SIGCHLD)
    statuses = [_status_when_told(told, f"exit {n}") for n in range(5)]
    return [statuses, signals_module.counted(signal.SIGWINCH)]


def _status_when_told(told, command):
    child = subprocess.Popen(["sh", "-c", command])
    while child.poll() is None:
        readable, _, _ = select.select([told], [], [], 60)
        if not readable:
            child.wait()
            return "ended without a signal"
        os.read(told, 100)
    return child.returncode


def c_api() -> list:
    answers = []
    for library in (ctypes.pythonapi, ctypes.PyDLL(None)):
        library.PyLong_FromLong.restype = ctypes.py_object
        answers.append(library.PyLong_FromLong(5))
    return answers + [ctypes.CDLL(None).Py_IsInitialized()]
