"""Makes the calling thread of an interpreter what the main thread is in plain Python.

The thread that Python regards as the main one belongs to the interpreter, and no session
runs there. A suite that was written for `python -m test` counts on it: handlers of
signals, and all that is built on them, are for the main thread alone.
"""

import contextlib
import ctypes
import locale
import signal
import threading


@contextlib.contextmanager
def as_main_thread():
    before = threading.main_thread()
    word = _word_of(before.ident)
    handlers = {}
    word.value = threading.get_ident()
    threading._main_thread = threading._MainThread()
    try:
        # What python does at its start.
        locale.setlocale(locale.LC_CTYPE, "")
        for number, handler in _AT_START.items():
            handlers[number] = signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        for number, handler in handlers.items():
            signal.signal(number, handler)
        threading._main_thread._tstate_lock.release()
        threading._main_thread._stop()
        threading._main_thread = before
        word.value = before.ident


_AT_START = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGPIPE: signal.SIG_IGN,
    signal.SIGXFSZ: signal.SIG_IGN,
}


def _word_of(ident):
    """The word of CPython's state that says which thread is the main one."""
    begin = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    words = (ctypes.c_ulong * 200).from_address(begin)
    (index,) = (n for n, word in enumerate(words) if word == ident)
    return ctypes.c_ulong.from_address(begin + index * ctypes.sizeof(ctypes.c_ulong))
