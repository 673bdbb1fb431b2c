"""dataloader_context(): interpreters of this process as the workers of torch's DataLoader.

torch's own worker loop runs in the interpreter, in a thread there (_loop.py); here a thread of each
worker takes what the loader puts into the worker's queue, steps the loop with it, and puts what comes of that
into the loader's. Nothing of it needs shared memory, file descriptors or signals.
"""

import functools
import inspect
import multiprocessing.context
import os
import queue
import sys
import threading
import weakref

from multipy._executor import pickled
from multipy._workers import Worker, crossing, host_module, loop, refuse_in_worker, require_host, sharing, slim

_alive = weakref.WeakSet()


class _Queue(queue.Queue):
    """What a loader asks of multiprocessing's queues."""

    def cancel_join_thread(self):
        pass

    join_thread = close = cancel_join_thread


class _Worker:
    """What a loader asks of a Process."""

    daemon = True
    exitcode = None

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None, slim_torch=True):
        self._slim_torch = slim_torch
        given = inspect.signature(target).bind(*args, **(kwargs or {})).arguments
        self._indices, self._results, self._done = (
            given.pop(each) for each in ("index_queue", "data_queue", "done_event")
        )
        self._call = (loop.begin, (target, given), {})
        self._sharing = sharing.Sharing()
        self._ending = False
        self._worker = None
        self._stop = None  # of what the interpreter does
        # No daemon: the end of the program waits for it, and ends it (_end_all).
        self._thread = threading.Thread(target=self._run, name=name or "multipy-dataloader")

    def start(self):
        # (In __main__ may be any part of the dataset.)
        with self._sharing:
            self._call = crossing.pickle_of(self._call, sharing=self._sharing)
        _alive.add(self)
        self._thread.start()

    def _run(self):
        try:
            try:
                worker = self._begin()
                ended = False
                while not ended:
                    item = self._indices.get()
                    self._stop = host_module().Stop()
                    results, ended = worker.run(
                        pickled(loop.step, (item, self._ending or self._done.is_set()), {}), stop=self._stop
                    )
                    del item
                    while results:
                        self._results.put(results.pop(0))
                self.exitcode = 0
            finally:
                worker, self._worker = self._worker, None
                if worker is not None:
                    worker.close()
        except BaseException as error:
            self.exitcode = 1
            if not self._ending:
                sys.excepthook(type(error), error, error.__traceback__)

    def _begin(self):
        """The interpreter, in which the loop is."""
        try:
            self._stop = host_module().Stop()
            worker = self._worker = Worker(slim(self._slim_torch))
            worker.run(self._call, stop=self._stop)
            return worker
        finally:
            self._call = None
            self._sharing.close()

    @property
    def pid(self):
        """What os.getpid() is in the worker."""
        return None if self._thread.ident is None else os.getpid()

    ident = pid

    @property
    def name(self):
        return self._thread.name

    def is_alive(self):
        return self._thread.is_alive()

    def join(self, timeout=None):
        self._thread.join(timeout)

    def terminate(self):
        self._ending = True
        self._indices.put(None)
        if self._stop is not None:
            self._stop.request()

    kill = terminate


def _end_all():
    for each in list(_alive):
        each.terminate()


class DataLoaderContext(multiprocessing.context.BaseContext):
    """For DataLoader(..., num_workers=n, multiprocessing_context=...)."""

    _name = "multipy"

    def __init__(self, slim_torch):
        self.Process = functools.partial(_Worker, slim_torch=slim_torch)

    def Queue(self, maxsize=0):
        return _Queue(maxsize)

    def Event(self):
        return threading.Event()


def dataloader_context(*, slim_torch=True):
    """A `multiprocessing_context` for torch.utils.data.DataLoader, whose workers are interpreters then.

    With slim_torch they execute what few datasets use of torch (tracing, compiling, optimizers and so on) when
    it is first used: importing it takes half of the time until the first batch.
    """
    refuse_in_worker()
    require_host()
    _install()
    return DataLoaderContext(slim_torch)


_installing = threading.Lock()
_installed = False


def _install():
    global _installed
    from torch.utils.data._utils import signal_handling

    with _installing:
        if _installed:
            return
        threading._register_atexit(_end_all)
        set_handler = signal_handling._set_SIGCHLD_handler

        def set_handler_for_processes():
            # A loader whose workers are no processes has no use for it.
            loader = sys._getframe(1).f_locals.get("self")
            if not any(isinstance(each, _Worker) for each in getattr(loader, "_workers", ())):
                set_handler()

        signal_handling._set_SIGCHLD_handler = set_handler_for_processes
        _installed = True
