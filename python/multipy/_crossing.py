"""How tasks and results cross between the program's Python and a worker's.

Both sides have this module, under the name _multipy_crossing: an installed package `multipy` is not
what the name means in a worker. Objects go as pickles. What has much memory goes beside them, by
reference: buffers (numpy's arrays, pickle.PickleBuffer) and plain torch tensors. The memory
is one on both sides, so that what one side writes the other sees, and read-only stays read-only.
"""

import copyreg
import importlib.util
import io
import os
import pickle
import struct
import sys
import threading
import traceback

IN_WORKER = "_multipy_host" in sys.builtin_module_names
if IN_WORKER:
    import _multipy_host

_beside = threading.local()


class Pickle:
    """An object on its way: the pickle, and what lies beside it."""

    __slots__ = ("data", "buffers", "tensors")

    def __init__(self, value, by_value=None):
        self.buffers, self.tensors = [], []
        stream = io.BytesIO()
        pickler = (by_value or pickle.Pickler)(stream, 5, buffer_callback=self._keep)
        torch = sys.modules.get("torch")
        table = getattr(pickler, "dispatch_table", copyreg.dispatch_table)
        pickler.dispatch_table = _Reducers(table, torch if hasattr(torch, "Tensor") else None, self.tensors)
        pickler.dump(value)
        self.data = stream.getbuffer()

    def _keep(self, buffer):
        try:
            self.buffers.append(buffer.raw())
        except BufferError:  # not contiguous
            return True
        return False


class _Reducers(dict):
    """A dispatch table in which plain tensors are left beside the pickle, and views of memory cross."""

    def __init__(self, table, torch, tensors):
        super().__init__()
        self._table, self._torch, self._tensors = table, torch, tensors
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


class RaisedThere(Exception):
    """The cause of what a task has raised: the traceback in its worker."""


def with_cause(error, text):
    error.__cause__ = RaisedThere(text)
    return error


def main_of_program():
    """(name, path) of this program's main module, as multiprocessing's spawn has it; None where what is
    defined there is pickled by value."""
    if importlib.util.find_spec("cloudpickle"):
        return None
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
_last = 0
_hold = _give_up = 0


def use_functions(hold, give_up):
    """Addresses of what holds a buffer of the program's, and gives it up."""
    global _hold, _give_up
    _hold, _give_up = hold, give_up


def take(number):
    return _kept.pop(number)


def run(address, size, described, tensors):
    data = _multipy_host.program_memory(address, size, True, 0, 0, 0)
    buffers = [
        memoryview(_multipy_host.program_memory(*described[i : i + 3], _hold, _give_up, described[i + 3]))
        for i in range(0, len(described), 4)
    ]
    raised = 0
    try:
        function, arguments, keywords = _load_task(data, buffers, tensors)
        del buffers, tensors
        answer = Pickle(function(*arguments, **keywords))
    except _multipy_host.interrupted():
        raise
    except BaseException as error:
        raised = 1
        answer = _pickle_of_error(error)
    return _packed(raised, answer)


def _packed(raised, answer):
    global _last
    described, kept = [], 0
    if answer.buffers:
        _last = kept = _last + 1
        views = [memoryview(each) for each in answer.buffers]
        _kept[kept] = views
        for view in views:
            described.append(struct.pack("=QQQ", *_multipy_host.buffer_facts(view)))
    return raised, bytes(answer.data), b"".join(described), tuple(answer.tensors), kept


def _pickle_of_error(error):
    text = '\n"""\n' + "".join(traceback.format_exception(type(error), error, error.__traceback__)) + '"""'
    error.__traceback__ = None
    try:
        return Pickle((error, text))
    except Exception as why:
        said = f"{type(error).__module__}.{type(error).__qualname__}: {error} (which cannot be pickled: {why})"
        return Pickle((RuntimeError(said), text))
