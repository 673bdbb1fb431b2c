"""InterpreterPoolExecutor: concurrent.futures over private interpreters."""

import concurrent.futures
import itertools
import os
import sys
import threading
import time

from multipy import _deadlines as deadlines
from multipy import _functions as functions
from multipy._workers import (
    IN_FORKED_CHILD,
    Ended,
    TaskTimedOut,
    Worker,
    crossing,
    host_module,
    inside,
    refuse_in_worker,
    require_host,
    sharing,
    slim,
)


class Future(concurrent.futures.Future):
    """A Future whose task can be ended while it runs, and which ends by itself while its task waits."""

    _task = None
    _ended_early = False  # its deadline has passed before an interpreter had the task

    def cancel(self, running=False):
        """As ever, and with `running` also a task that runs: multipy.Interrupted is raised in it.

        True if the task has been cancelled, or has been told to end: its result is then a
        CancelledError, unless it ends with another one first.
        """
        if super().cancel():
            return True
        return running and self._task is not None and not self.done() and self._task.interrupt()

    def _end_at_deadline(self):
        """At its deadline. A task that an interpreter has is ended there."""
        if not self._task.give_up():
            return
        self._ended_early = True
        try:
            super().set_exception(TaskTimedOut("the deadline passed while the task waited for an interpreter"))
        except concurrent.futures.InvalidStateError:
            pass  # it has been cancelled

    # What the pool's thread says of it then comes too late.

    def set_running_or_notify_cancel(self):
        return (self.cancelled() or not self._ended_early) and super().set_running_or_notify_cancel()

    def set_result(self, result):
        if not self._ended_early:
            super().set_result(result)

    def set_exception(self, exception):
        if not self._ended_early:
            super().set_exception(exception)


class _Task:
    """A call of a function in a worker: what a thread of the pool calls."""

    def __init__(self, places, under_way, sent, pickle, end):
        self._places, self._under_way, self._sent, self._pickle, self._end = places, under_way, sent, pickle, end
        self._stop = host_module().Stop()
        self._taken = None if end is None else threading.Lock()  # by who comes first: an interpreter or the deadline

    def interrupt(self):
        self._stop.request()
        return True

    def give_up(self):
        """False if it has begun."""
        if not self._taken.acquire(blocking=False):
            return False
        self._pickle = None
        return True

    def __call__(self):
        self._under_way.add(self)
        try:
            return self._run()
        finally:
            self._under_way.discard(self)

    def _run(self):
        worker = self._places.worker()
        if self._taken is not None and not self._taken.acquire(blocking=False):
            return None
        try:
            if self._under_way.is_over or self._stop.is_requested():
                raise concurrent.futures.CancelledError()
            if self._pickle.groups:
                worker.give_variables(functions.in_order(self._pickle.groups), self._seconds_left(), self._stop)
            if self._sent is not None:
                worker.give(self._sent, self._seconds_left(), self._stop)
            return worker.run(self._pickle, self._seconds_left(), self._stop)
        except Ended:
            self._places.discard()  # code that it hit may have been half-way through something
            raise
        finally:
            self._pickle = self._sent = None
            self._places.ended()

    def _seconds_left(self):
        return None if self._end is None else max(self._end - time.monotonic(), 0)


class _UnderWay(set):
    """The tasks of a pool that its threads have begun."""

    is_over = False

    def interrupt(self):
        self.is_over = True
        for task in self.copy():
            task.interrupt()


class _Places(threading.local):
    """The worker of each thread of a pool."""

    def __init__(self, initializer, most_tasks, slim, variables):
        self._initializer, self._most_tasks, self._slim = initializer, most_tasks, slim
        self._variables = variables
        self._worker = None
        self._tasks = 0

    def start(self):
        worker = Worker(self._slim, self._variables)
        if self._initializer is not None:
            worker.give_variables(functions.in_order(self._initializer.groups))
            worker.run(self._initializer)
        self._worker, self._tasks = worker, 0

    def worker(self):
        if self._worker is None:
            self.start()
        return self._worker

    def ended(self):
        self._tasks += 1
        if self._most_tasks is not None and self._tasks >= self._most_tasks:
            self.discard()

    def discard(self):
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()


class InterpreterPoolExecutor(concurrent.futures.ThreadPoolExecutor):
    """A pool of interpreters, each with a GIL of its own, in this process.

    Tasks and results are pickled, as with processes (by cloudpickle what pickle cannot, where it is
    installed). numpy's arrays, other buffers and plain torch tensors cross by reference.

    initializer(*initargs) is called in each interpreter before its first task. After
    max_tasks_per_child tasks an interpreter is replaced by a new one. With `copy`, memory is copied on its way,
    in both directions. With slim_torch, what serving an eager model does not use of torch is executed at its
    first use. So is what packages named in slim_importers import of it, and of slim_modules
    (docs/environments.md).
    """

    _crossing = {}  # of _crossing.Pickle
    _variables = {}  # that its interpreters have besides the program's

    def __init__(
        self,
        max_workers=None,
        thread_name_prefix="",
        initializer=None,
        initargs=(),
        *,
        max_tasks_per_child=None,
        copy=False,
        slim_torch=True,
        slim_importers=(),
        slim_modules=(),
    ):
        refuse_in_worker()
        require_host()
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        if max_tasks_per_child is not None:
            if not isinstance(max_tasks_per_child, int):
                raise TypeError("max_tasks_per_child must be an integer")
            if max_tasks_per_child <= 0:
                raise ValueError("max_tasks_per_child must be >= 1")
        how = slim(slim_torch, slim_importers, slim_modules)
        if max_workers is None:
            max_workers = os.cpu_count() or 1
        self._copies = copy
        if copy:
            self._crossing = crossing.COPY_ALL
        self._functions = functions.Functions(self._crossing)
        if initializer is not None:
            self._functions.begin(initializer)
        first = None if initializer is None else self._inherited(initializer, tuple(initargs))
        self._places = _Places(first, max_tasks_per_child, how, self._variables)
        self._under_way = _UnderWay()
        self._pid = os.getpid()
        # Without an initializer an interpreter starts when its thread has a task, which is under way then.
        start = None if first is None else self._places.start
        super().__init__(max_workers, thread_name_prefix or "multipy", start)

    def _inherited(self, initializer, arguments):
        """The call of it, which may have what processes inherit: multiprocessing's locks, values and queues."""
        if "multiprocessing.reduction" not in sys.modules:  # so there are none
            return self._pickled(initializer, initializer, arguments, {})
        with sharing.Sharing() as shared:
            return self._pickled(initializer, initializer, arguments, {}, sharing=shared)

    def _pickled(self, function, *call, **how):
        return crossing.pickle_of(call, function, known=self._functions.known, **how, **self._crossing)

    def submit(self, fn, /, *args, deadline=None, **kwargs):
        """As ever. After `deadline` seconds, waiting included, the task ends with a TimeoutError."""
        end = None if deadline is None else time.monotonic() + deadline

        def pickled():
            if sent := self._functions.sent(fn):
                return sent, self._call_of_kept(inside.call_kept, sent.token, args, kwargs)
            return None, self._pickled(fn, self._called(fn), args, kwargs)

        return self._submit(pickled, end)

    def _called(self, function):
        return crossing.Copied(function) if self._copies else function

    def _call_of_kept(self, caller, *arguments):
        return crossing.pickle_of((self._called(caller), arguments, {}), **self._crossing)

    def _submit(self, pickled, end=None):
        if os.getpid() != self._pid:
            raise RuntimeError(IN_FORKED_CHILD)
        self._functions.submitting()
        try:
            task = _Task(self._places, self._under_way, *pickled(), end)
        except Exception as error:
            task = None
            future = super().submit(_failing, error)  # as a process pool's: the future has it
        else:
            future = super().submit(task)
        future.__class__ = Future
        future._task = task
        if task is not None and end is not None:
            deadlines.call_at(end, future._end_at_deadline)
        return future

    def __exit__(self, kind, error, traceback):
        if kind is not None and issubclass(kind, KeyboardInterrupt):  # Ctrl-C, which processes have each for itself
            self.shutdown(wait=False, cancel_futures=True)
            self._under_way.interrupt()
        return super().__exit__(kind, error, traceback)

    def map(self, fn, *iterables, timeout=None, chunksize=1, buffersize=None, progress=False):
        """As ever: `chunksize` calls go to an interpreter at once; of `buffersize` results, where it is
        told, no more are under way than that. With `progress` a bar of tqdm's shows how far it is."""
        if chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        if buffersize is not None and buffersize < 1:
            raise ValueError("buffersize must be None or > 0")
        end = None if timeout is None else time.monotonic() + timeout
        chunks = _chunks(zip(*iterables), chunksize)
        ahead = chunks if buffersize is None else itertools.islice(chunks, buffersize)
        submit = self._submitting(fn)
        futures = [submit(chunk) for chunk in ahead]
        # (Results of calls that are all submitted do not keep the pool.)
        more = iter(()) if buffersize is None else (submit(chunk) for chunk in chunks)
        results = _results(futures, more, end)
        return _shown(results, iterables) if progress else results


    def _submitting(self, fn):
        """What submits the calls of a chunk."""
        try:
            sent = self._functions.sent_for(fn)
        except Exception:  # each call has its error
            sent = None
        if sent is None:
            return lambda chunk: self.submit(crossing.call_each, fn, chunk)
        return lambda chunk: self._submit_chunk(sent, chunk)

    def _submit_chunk(self, sent, chunk):
        return self._submit(lambda: (sent, self._call_of_kept(inside.call_kept_for_each, sent.token, chunk)))


def _results(futures, more, end):
    futures.reverse()
    try:
        while futures:
            wait = None if end is None else end - time.monotonic()
            results = futures[-1].result(wait)
            futures.pop()
            futures[:0] = itertools.islice(more, 1)
            results.reverse()
            while results:
                yield results.pop()  # which nothing here keeps
    finally:
        for future in futures:
            future.cancel()


def _failing(error):
    raise error


def _chunks(items, size):
    while chunk := tuple(itertools.islice(items, size)):
        yield chunk


def _shown(results, iterables):
    from tqdm.auto import tqdm

    sizes = [len(each) for each in iterables if hasattr(each, "__len__")]
    return iter(tqdm(results, total=min(sizes, default=None)))


def pickled(function, arguments, keywords, **how):
    """A call as it crosses; `how` is _crossing.Pickle's."""
    return crossing.pickle_of((function, arguments, keywords), function, **how)
