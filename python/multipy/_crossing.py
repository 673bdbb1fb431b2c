"""How tasks and results cross between the program's Python and a worker's.

Both sides have this module, under the name _multipy_crossing: an installed package `multipy` is not
what the name means in a worker. Objects go as pickles. What has much memory goes beside them, by
reference: buffers (numpy's arrays, pickle.PickleBuffer) and plain torch tensors. The memory
is one on both sides, so that what one side writes the other sees, and read-only stays read-only.
"""

import collections
import copyreg
import functools
import importlib
import importlib.util
import io
import itertools
import os
import pickle
import queue
import struct
import sys
import threading
import traceback

IN_WORKER = "_multipy_host" in sys.builtin_module_names
if IN_WORKER:
    import _multipy_host

_beside = threading.local()


class Pickle:
    """An object on its way: the pickle, and what lies beside it.

    copy_below: buffers of fewer bytes are copied, and tensors with storages of fewer. read_only: whether the
    other buffers are, on the other side.
    """

    __slots__ = ("data", "buffers", "tensors", "_copy_below", "_read_only")

    def __init__(self, value, by_value=None, copy_below=0, read_only=False):
        self.buffers, self.tensors = [], []
        self._copy_below, self._read_only = copy_below, read_only
        stream = io.BytesIO()
        kind = by_value or pickle.Pickler
        torch = sys.modules.get("torch")
        table = getattr(kind, "dispatch_table", None)
        if not hasattr(table, "keys"):
            table = copyreg.dispatch_table
        reducers = _Reducers(table, torch if hasattr(torch, "Tensor") else None, self.tensors, copy_below)
        if by_value:  # which has a table of its class, and looks at it when it is initialised
            pickler = kind.__new__(kind)
            pickler.__dict__["dispatch_table"] = reducers
            pickler.__init__(stream, 5, buffer_callback=self._keep)
        else:
            pickler = kind(stream, 5, buffer_callback=self._keep)
            pickler.dispatch_table = reducers
        pickler.dump(value)
        self.data = stream.getbuffer()

    def _keep(self, buffer):
        try:
            raw = buffer.raw()
        except BufferError:  # not contiguous
            return True
        if raw.nbytes < self._copy_below:
            return True
        self.buffers.append(raw.toreadonly() if self._read_only else raw)
        return False


COPY_ALL = {"copy_below": float("inf")}


class _Reducers(dict):
    """A dispatch table in which plain tensors are left beside the pickle, and views of memory cross."""

    def __init__(self, table, torch, tensors, copy_below):
        super().__init__()
        self._table, self._torch, self._tensors, self._copy_below = table, torch, tensors, copy_below
        if torch:
            self[torch.Tensor] = self._reduce
        self[memoryview] = _reduce_view

    def __missing__(self, key):
        return self._table[key]

    def _reduce(self, tensor):
        torch = self._torch
        if tensor.requires_grad and not tensor.is_leaf and not IN_WORKER:
            raise RuntimeError(
                "a tensor that requires gradients and is no leaf cannot be passed to another interpreter: its "
                "graph is this one's. Pass tensor.detach()"
            )
        if tensor.layout is not torch.strided or tensor.is_quantized or tensor.__dict__:
            return tensor.__reduce_ex__(2)
        if self._copy_below and tensor.untyped_storage().nbytes() < self._copy_below:
            leaf = tensor.detach().clone()
            tensor = leaf.requires_grad_(tensor.requires_grad)
        self._tensors.append(tensor)
        return tensor_beside, (len(self._tensors) - 1,)


def _reduce_view(view):
    return memoryview, (pickle.PickleBuffer(view),)


def tensor_beside(number):
    return _beside.tensors[number]


def load(data, buffers, tensors):
    before = getattr(_beside, "tensors", None)
    _beside.tensors = tensors
    try:
        return pickle.loads(data, buffers=buffers)
    finally:
        _beside.tensors = before


def opened(answer):
    """What an interpreter has answered. Raises what it has raised."""
    raised, *parts = answer
    del answer
    result = load(*parts)
    del parts
    if not raised:
        return result
    error, text = result
    try:
        raise with_cause(error, text)
    finally:
        del error, result


class Copied:
    """A result that is to be copied."""

    def __init__(self, function):
        self._function = function

    def __call__(self, *arguments, **keywords):
        return Result(self._function(*arguments, **keywords), COPY_ALL)


class Result:
    """A result, and how it is to cross."""

    def __init__(self, value, crossing):
        self.value, self.crossing = value, crossing


class RaisedThere(Exception):
    """The cause of what a task has raised: the traceback in its worker."""


def with_cause(error, text):
    error.__cause__ = RaisedThere(text)
    return error


@functools.cache  # a look for what is not there takes longer than a task
def cloudpickler():
    """What pickles by value what is defined in __main__, and lambdas; None where it is not installed."""
    for module in "cloudpickle", "joblib.externals.cloudpickle":
        try:
            return importlib.import_module(module).CloudPickler
        except ImportError:
            pass
    return None


def main_of_program():
    """(name, path) of this program's main module, as multiprocessing's spawn has it. None if it has neither.
    It is run in a worker that lacks something of it: where nothing pickles that by value."""
    main = sys.modules["__main__"]
    name = getattr(getattr(main, "__spec__", None), "name", None)
    path = getattr(main, "__file__", None)
    if name is None and path is None:
        return None
    return name, path and os.path.abspath(path)


def call_each(function, calls):
    return [function(*arguments) for arguments in calls]


# ------------------------------------------------------- in a worker


_main = None


def prepare(path, main):
    global _main
    sys.path[:0] = [entry for entry in path if entry not in sys.path]
    _main = main


def _run_main():
    """The program's main module, under the name __mp_main__, as multiprocessing runs it."""
    global _main
    from multiprocessing import spawn

    (name, place), _main = _main, None
    if name is not None:
        spawn._fixup_main_from_name(name)
    else:
        spawn._fixup_main_from_path(place)


def _load_task(data, buffers, tensors):
    try:
        return load(data, buffers, tensors)
    except AttributeError as error:
        if _main is None or "__main__" not in str(error):
            raise
    _run_main()
    return load(data, buffers, tensors)


_kept = {}
_numbers = itertools.count(1)
_hold = _give_up = _keep = 0


def use_functions(hold, give_up, keep):
    """Addresses of functions of the program's: what holds a buffer of its, what gives that up, and what
    keeps for it what take() gives."""
    global _hold, _give_up, _keep
    _hold, _give_up, _keep = hold, give_up, keep


def take(number):
    return _kept.pop(number)


def _opened(address, size, described, tensors):
    """What a parcel's pickle has."""
    data = _multipy_host.program_memory(address, size, True, 0, 0, 0)
    return _load_task(data, _memory(described), tensors)


def _memory(described):
    return [
        memoryview(_multipy_host.program_memory(*described[i : i + 3], _hold, _give_up, described[i + 3]))
        for i in range(0, len(described), 4)
    ]


def run(*parcel):
    try:
        function, arguments, keywords = _opened(*parcel)
        del parcel
        result = function(*arguments, **keywords)
        if type(result) is Result:
            return _packed(0, Pickle(result.value, **result.crossing))
        return _packed(0, Pickle(result))
    except _multipy_host.interrupted():
        raise
    except BaseException as error:
        return _packed(1, _pickle_of_error(error))


def _packed(raised, answer):
    described, kept = [], 0
    if answer.buffers:
        kept = next(_numbers)
        views = [memoryview(each) for each in answer.buffers]
        _kept[kept] = views
        for view in views:
            described.append(struct.pack("=QQQ", *_multipy_host.buffer_facts(view)))
        _multipy_host.call_program(_keep, kept)
    return raised, bytes(answer.data), b"".join(described), tuple(answer.tensors), kept


def _pickle_of_error(error):
    text = '\n"""\n' + "".join(traceback.format_exception(type(error), error, error.__traceback__)) + '"""'
    error.__traceback__ = None
    try:
        return Pickle((error, text))
    except Exception as why:
        said = f"{type(error).__module__}.{type(error).__qualname__}: {error} (which cannot be pickled: {why})"
        return Pickle((RuntimeError(said), text))


# ------------------------------------------------------- a pool's model


_direct = {float, bool, type(None)}  # and torch.Tensor, once that is there


def _is_direct(value, kind):
    if kind in _direct:
        return True
    if kind is int:
        return -(2**63) <= value < 2**63
    if kind is str:
        return value.isascii()
    torch = sys.modules.get("torch")
    return kind is getattr(torch, "Tensor", None) and not value.__dict__


class Model:
    """A pool's model: a parcel of what makes it, which each interpreter opens once."""

    def __init__(self, address, size, described, tensors):
        data = _multipy_host.program_memory(address, size, True, 0, 0, 0)
        self._parcel = bytes(data), list(described), tuple(tensors)
        self._lock = threading.Lock()
        self._model = None

    def __reduce__(self):
        return _model_again, self._parcel

    def make(self):
        """None, or what its maker has raised."""
        try:
            with self._lock:
                if self._model is None:
                    data, described, tensors = self._parcel
                    maker, arguments = _load_task(data, _memory(described), tensors)
                    if isinstance(maker, str):
                        maker = _named(maker)
                    model = maker(*arguments)
                    if not callable(model):
                        raise TypeError(f"a pool's model must be callable, and its maker has returned {model!r:.200}")
                    self._model = model
        except _multipy_host.interrupted():
            raise
        except BaseException as error:
            return _packed(1, _pickle_of_error(error))

    def __call__(self, pickled, *arguments):
        if self._model is None and (raised := self.make()):
            return raised
        try:
            if pickled:
                arguments, keywords = _opened(*arguments)
                result = self._model(*arguments, **keywords)
            else:
                result = self._model(*arguments)
            if _is_direct(result, type(result)):
                return result
            return _packed(0, Pickle(result))
        except _multipy_host.interrupted():
            raise
        except BaseException as error:
            return _packed(1, _pickle_of_error(error))


def _model_again(*parcel):
    model = Model.__new__(Model)
    model._parcel = parcel
    model._lock = threading.Lock()
    model._model = None
    return model


def _named(name):
    """What "module:attribute.of.it" names."""
    module, _, path = name.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def register_joblib():
    """In a worker joblib's backend of this name calls one function after the other."""
    import joblib
    from joblib._parallel_backends import SequentialBackend

    joblib.register_parallel_backend("multipy", SequentialBackend)


# ------------------------------------------------------- a DataLoader's worker


class Loop:
    """torch's worker loop, in a thread of its own, and what it has for its queues and its event."""

    def __init__(self, target, arguments):
        self._changed = threading.Condition()
        self._items, self._results = collections.deque(), []
        self._is_waiting = self._is_over = self._is_done = False
        arguments.update(index_queue=self, data_queue=self, done_event=self)
        self._thread = threading.Thread(target=self._run, args=(target, arguments), daemon=True)
        self._thread.start()

    def _run(self, target, arguments):
        try:
            target(**arguments)
        finally:
            with self._changed:
                self._is_over = True
                self._changed.notify_all()

    def step(self, item, is_done):
        """What the loop has put when it waits for the next item, and whether it has ended."""
        with self._changed:
            self._is_done = is_done
            self._items.append(item)
            self._is_waiting = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_waiting or self._is_over)
            results, self._results = self._results, []
            return results, self._is_over

    def get(self, timeout=None):
        with self._changed:
            if not self._items:
                self._is_waiting = True
                self._changed.notify_all()
                if not self._changed.wait_for(lambda: self._items, timeout):
                    raise queue.Empty
            return self._items.popleft()

    def put(self, result):
        self._results.append(result)

    def is_set(self):
        return self._is_done

    def cancel_join_thread(self):
        pass

    close = cancel_join_thread


_loop = None


def begin_loop(target, arguments):
    global _loop
    import torch
    from torch.utils.data._utils import signal_handling

    # The signals are the program's, and what is collated here needs no shared memory to be seen there.
    signal_handling._set_worker_signal_handlers = lambda: None
    torch.UntypedStorage._new_shared = classmethod(lambda cls, size, *, device="cpu": cls(size, device=device))
    _loop = Loop(target, arguments)


def step_loop(item, is_done):
    return _loop.step(item, is_done)
