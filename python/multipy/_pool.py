"""Pool: a model in each of several interpreters, called from any thread."""

import asyncio
import concurrent.futures
import itertools
import os
import sys
import threading
import weakref

from multipy._workers import (
    IN_FORKED_CHILD,
    arguments,
    by_value,
    crossing,
    host_module,
    python_options,
    refuse_in_worker,
    resource_tracker,
    search_path,
    slim,
    sources,
    variables,
)


_FOREVER = 1e9  # seconds; a clock's nanoseconds end somewhere


class QueueFull(RuntimeError):
    """A call has not been made: `max_waiting` others are in line."""


class CallFuture(concurrent.futures.Future):
    """The Future of a call that is under way from the beginning: cancel() interrupts it."""

    _stop = None

    def cancel(self):
        """True if the call has been told to end: its result is then a CancelledError, unless it ends with
        another one first."""
        if self.done():
            return self.cancelled()
        stop = self._stop
        if stop is not None:
            stop.request()
        return True


class Pool:
    """`workers` interpreters with a GIL each, in this process, and a model in each of them.

    model: what makes it, "package.module:function" or a callable. It is called once in each interpreter, with
        *args; what it returns is called with the arguments of pool(...).
    args: as tasks' arguments cross: numpy's arrays, other buffers and tensors by reference, so that weights in
        them are there once.
    deadline: seconds after which a call ends with a TimeoutError, waiting in line included, unless it says
        another one itself.
    max_waiting: how many calls may wait in line; one more is refused with QueueFull.
    replace_after_calls, replace_after_seconds, replace_after_bytes: an interpreter is replaced by a new one
        after so many calls, so long a time, or with so much memory of Python's.
    slim_torch: what serving an eager model does not use of torch is executed at its first use.
    slim_importers, slim_modules: packages whose imports of that are like those of torch, and what is put off as
        well where they import it (docs/environments.md).

    All methods may be called from any thread.
    """

    def __init__(
        self,
        workers,
        model,
        *,
        args=(),
        deadline=None,
        max_waiting=None,
        replace_after_calls=0,
        replace_after_seconds=0,
        replace_after_bytes=0,
        slim_torch=True,
        slim_importers=(),
        slim_modules=(),
    ):
        refuse_in_worker()
        host = host_module()
        _check_workers(workers)
        _check_maker(model)
        self._errors = host.TaskInterrupted, host.TaskTimedOut, host.LineFull
        self._deadline = deadline
        self._pid = os.getpid()
        self._loading = threading.Lock()
        self._under_way = set()
        *modules, (inside, source) = sources()
        source += f"\nprepare({search_path()!r}, {by_value.main_of_program()!r}, {resource_tracker()!r})\n"
        self._pool = host.Pool(
            sys.prefix,
            [*modules, (inside, source)],
            arguments(),
            workers,
            -1 if max_waiting is None else _count("max_waiting", max_waiting),
            _count("replace_after_calls", replace_after_calls),
            _seconds("replace_after_seconds", replace_after_seconds),
            _count("replace_after_bytes", replace_after_bytes),
            slim(slim_torch, slim_importers, slim_modules),
            variables(),
            python_options(),
        )
        self._end = weakref.finalize(self, _close, self._pool, self._under_way, self._pid)
        try:
            self.reload(model, args=args)
        except BaseException:
            self.close()
            raise

    # ------------------------------------------------------- calls

    def __call__(self, /, *args, deadline=None, **kwargs):
        """The model's result. What it raises arrives as itself, with the traceback there as its cause."""
        seconds = self._deadline if deadline is None else deadline
        try:
            answer = self._pool.call(args, kwargs or None, seconds)
            if answer is NotImplemented:
                answer = self._pool.call(crossing.pickle_of((args, kwargs)), None, seconds)
        except self._errors as error:
            raise self._said(error) from None
        except RuntimeError:
            self._refuse_in_child()
            raise
        return _value_of(answer)

    def submit(self, /, *args, deadline=None, **kwargs):
        """A concurrent.futures.Future of the model's result; no thread of the program waits for it."""
        self._refuse_in_child()
        seconds = self._deadline if deadline is None else deadline
        future = CallFuture()
        self._under_way.add(future)

        def then(answer, error):
            self._under_way.discard(future)
            _conclude(future, answer, error, self._said)

        try:
            stop = self._pool.start(args, kwargs or None, seconds, then)
            if stop is NotImplemented:
                stop = self._pool.start(crossing.pickle_of((args, kwargs)), None, seconds, then)
        except BaseException as error:
            self._under_way.discard(future)
            if isinstance(error, self._errors):
                raise self._said(error) from None
            raise
        future._stop = stop
        return future

    async def acall(self, /, *args, deadline=None, **kwargs):
        """The model's result, for asyncio. A task that is cancelled interrupts its call."""
        future = self.submit(*args, deadline=deadline, **kwargs)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            future.cancel()
            raise

    def map(self, /, *iterables, deadline=None, buffersize=None):
        """The results of pool(*each) in order, as they come: `buffersize` of them are under way at most, of
        twice as many as there are interpreters unless told."""
        if buffersize is not None and buffersize < 1:
            raise ValueError("buffersize must be None or > 0")
        if buffersize is None:
            buffersize = 2 * len(self.stats()["interpreters"])
        calls = zip(*iterables)
        ahead = [self.submit(*each, deadline=deadline) for each in itertools.islice(calls, buffersize)]
        return self._results(ahead, calls, deadline)

    def _results(self, futures, calls, deadline):
        futures.reverse()
        try:
            while futures:
                result = futures[-1].result()
                futures.pop()
                for each in itertools.islice(calls, 1):
                    futures.insert(0, self.submit(*each, deadline=deadline))
                yield result
                del result
        finally:
            for future in futures:
                future.cancel()

    # ------------------------------------------------------- while it serves

    def reload(self, model, *, args=()):
        """Makes another model in each interpreter, one after the other, while calls go on; later calls are
        its. What its making raises leaves everything as it was."""
        self._refuse_in_child()
        _check_maker(model)
        with self._loading:
            raised = self._pool.load(crossing.pickle_of((model, tuple(args)), model))
        if raised is not None:
            crossing.opened(raised)

    def resize(self, workers):
        """From now on there are so many interpreters. Those that leave end when their calls have."""
        self._refuse_in_child()
        _check_workers(workers)
        self._pool.resize(workers)

    def replace(self, interpreter):
        """Starts a new interpreter in place of the one of this number (stats()), which ends when its calls
        have."""
        known = [each["interpreter"] for each in self.stats()["interpreters"]]
        if interpreter not in known:
            raise ValueError(f"expected the number of one of the pool's interpreters ({known}), found {interpreter!r}")
        self._pool.replace(interpreter)

    def stats(self):
        """What the interpreters have done and are doing, as a dict."""
        self._refuse_in_child()
        return self._pool.stats()

    def metrics(self, name="default"):
        """The same in Prometheus' text format, with the label pool=`name`."""
        self._refuse_in_child()
        return self._pool.metrics(name)

    def health(self):
        """(whether calls can be made now, what is not as it should be: a list of sentences)"""
        self._refuse_in_child()
        return self._pool.health()

    def close(self):
        """Waits for calls that are under way, and ends the interpreters. Results that are still in use keep
        the interpreters that their memory lies in."""
        if os.getpid() == self._pid:
            self._end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _said(self, error):
        interrupted, timed_out, _ = self._errors
        if isinstance(error, interrupted):
            return concurrent.futures.CancelledError(str(error))
        if isinstance(error, timed_out):
            return concurrent.futures.TimeoutError(str(error))
        return QueueFull(str(error))

    def _refuse_in_child(self):
        if os.getpid() != self._pid:
            raise RuntimeError(IN_FORKED_CHILD)


def _check_workers(workers):
    if not isinstance(workers, int):
        raise TypeError("workers must be an integer")
    if workers < 1:
        raise ValueError("workers must be >= 1")


def _check_maker(model):
    if isinstance(model, str):
        module, colon, path = model.partition(":")
        if not (colon and module and path):
            raise ValueError(f"expected 'module:function' or a callable as the model, found {model!r}")
    elif not callable(model):
        raise TypeError(f"expected 'module:function' or a callable as the model, found a {type(model).__name__}")


def _count(name, value):
    """None is 0, which stands for no limit."""
    if value is None:
        return 0
    if not isinstance(value, int):
        raise TypeError(f"{name} must be an integer or None, found {value!r}")
    if not 0 <= value < 2**63:
        raise ValueError(f"{name} must be >= 0 and of 63 bits, found {value}")
    return value


def _seconds(name, value):
    if value is None:
        return 0.0
    value = float(value)
    if not value >= 0:
        raise ValueError(f"{name} must be >= 0, found {value}")
    return value if value < _FOREVER else 0.0


def _close(pool, under_way, pid):
    if os.getpid() != pid:  # in a forked child, whose calls nothing ends
        return
    concurrent.futures.wait(list(under_way))
    pool.close()


def _value_of(answer):
    """Of what the extension's call() and start() give (python/extension/pool.cpp)."""
    if len(answer) == 1:
        return answer[0]
    if len(answer) == 2:
        value, arrays = answer
        return crossing.with_arrays(value, [crossing.array_of(*each) for each in arrays])
    return crossing.opened(answer)


def _conclude(future, answer, error, said):
    if error is not None:
        if type(error).__module__ == "multipy._host":
            error = said(error)
    else:
        try:
            result = _value_of(answer)
        except BaseException as raised:
            error = raised
    try:
        if error is None:
            future.set_result(result)
        elif isinstance(error, concurrent.futures.CancelledError):
            concurrent.futures.Future.cancel(future)
            future.set_running_or_notify_cancel()
        else:
            future.set_exception(error)
    finally:
        del error
