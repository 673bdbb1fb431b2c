"""Calls functions of objects when their time has come: of futures whose tasks still wait in line.

One thread for the process, which is started for the first deadline and keeps none of the objects.
"""

import heapq
import itertools
import threading
import time
import weakref

_FEWEST = 64  # entries that are not worth looking through

_changed = threading.Condition()
_waiting = []  # heap of (when, serial number, weak method)
_serial = itertools.count()
_most = _FEWEST  # so many are looked through for objects that are gone
_thread = None


def call_at(when, method):
    """`when` is of time.monotonic(). The thread calls no two at once: the method should be short."""
    global _most, _thread
    with _changed:
        if len(_waiting) >= _most:
            _waiting[:] = [each for each in _waiting if each[2]() is not None]
            heapq.heapify(_waiting)
            _most = max(_FEWEST, 2 * len(_waiting))
        heapq.heappush(_waiting, (when, next(_serial), weakref.WeakMethod(method)))
        if _thread is None:
            _thread = threading.Thread(target=_call_in_time, name="multipy deadlines", daemon=True)
            _thread.start()
        _changed.notify()


def _call_in_time():
    while True:
        with _changed:
            while not _waiting or _waiting[0][0] > time.monotonic():
                _changed.wait(max(_waiting[0][0] - time.monotonic(), 0) if _waiting else None)
            method = heapq.heappop(_waiting)[2]()
        if method is not None:
            method()
        del method
