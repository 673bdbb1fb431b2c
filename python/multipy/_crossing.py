"""How objects cross between the program's Python and a worker's.

Both sides have this module, under the name _multipy_crossing: an installed package `multipy` is not
what the name means in a worker. What runs there is in _inside.py and _loop.py. Objects go as
pickles, in which what is of the main module is by value (_by_value.py). What has much memory goes beside
them, by reference: buffers (numpy's arrays, pickle.PickleBuffer) and plain torch tensors. The memory is one
on both sides, so that what one side writes the other sees, and read-only stays read-only.
"""

import _pickle as pickle  # the same classes without what the module imports, which a worker may not need
import _thread
import copyreg
import functools
import io
import sys
import types

from _multipy_by_value import IN_WORKER, cloudpickler, code_in_its_file, kept, main_can_run

_beside = _thread._local()  # threading.local


class Pickle:
    """An object on its way: the pickle, and what lies beside it.

    copy_below: buffers of fewer bytes are copied, and tensors with storages of fewer. read_only: whether the
    other buffers are, on the other side. sharing: a _sharing.Sharing, which lives as long as the pickle.
    known: what is kept on the other side, by id() (_functions.py); `groups` are those of it that the pickle names.
    """

    __slots__ = ("data", "buffers", "tensors", "groups", "_copy_below", "_read_only", "_sharing")

    def __init__(self, value, by_value=None, copy_below=0, read_only=False, sharing=None, known=None):
        if sharing:
            sharing.begin()
        self.buffers, self.tensors, self.groups = [], [], ()
        self._copy_below, self._read_only = copy_below, read_only
        self._sharing = sharing
        stream = io.BytesIO()
        kind = by_value or pickle.Pickler
        table = getattr(kind, "dispatch_table", None)
        # (A copy: what is in a dictionary pickle finds without calling Python.)
        table = dict(table if hasattr(table, "keys") else copyreg.dispatch_table)
        table[memoryview] = _reduce_view
        torch = sys.modules.get("torch")
        if hasattr(torch, "Tensor"):
            table[torch.Tensor] = self._reduce_tensor
        if hasattr(torch, "UntypedStorage"):  # another thread may be importing it
            table[torch.UntypedStorage] = _reduce_storage
        if managers := sys.modules.get("multiprocessing.managers"):
            table.update(dict.fromkeys(with_subclasses(managers.BaseProxy), _reduce_proxy))
        if sharing:
            table.update(sharing.reducers())
        if by_value:  # which has a table of its class, and looks at it when it is initialised
            if reduce_code := table.get(types.CodeType):
                table[types.CodeType] = functools.partial(code_in_its_file, reduce_code)
            self.groups = set()
            pickler = kind.__new__(kind)
            pickler.__dict__.update(dispatch_table=table, known=known or {}, groups=self.groups)
            pickler.__init__(stream, 5, buffer_callback=self._keep)
        else:
            pickler = kind(stream, 5, buffer_callback=self._keep)
            pickler.dispatch_table = table
        pickler.dump(value)
        self.data = stream.getvalue()

    def _keep(self, buffer):
        try:
            raw = buffer.raw()
        except BufferError:  # not contiguous
            return True
        if raw.nbytes < self._copy_below:
            return True
        self.buffers.append(raw.toreadonly() if self._read_only else raw)
        return False

    def _reduce_tensor(self, tensor):
        torch = sys.modules["torch"]
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
        self.tensors.append(tensor)
        return tensor_beside, (len(self.tensors) - 1,)


COPY_ALL = {"copy_below": float("inf")}


def _reduce_storage(storage):
    torch = sys.modules["torch"]
    return _storage_of, (torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage),)


def _storage_of(tensor):
    return tensor.untyped_storage()


def _reduce_view(view):
    if not view.nbytes:  # which casts nothing
        return _empty_view, (view.format, view.readonly)
    try:
        flat = view.cast("B")
        flat.cast(view.format, view.shape)
    except (TypeError, ValueError) as error:
        raise pickle.PicklingError(
            f"a memoryview of format {view.format!r} and strides {view.strides} cannot be passed to another interpreter: "
            f"{error}. Pass a contiguous one of a native format, or an array"
        ) from None
    return _view_again, (pickle.PickleBuffer(flat), view.format, view.shape)


def _view_again(buffer, kind, shape):
    return memoryview(buffer).cast("B").cast(kind, shape)


def _empty_view(kind, is_read_only):
    return memoryview(b"" if is_read_only else bytearray()).cast(kind)


def with_subclasses(kind):
    return {kind}.union(*map(with_subclasses, kind.__subclasses__()))


def _reduce_proxy(proxy):
    how, arguments, *more = proxy.__reduce_ex__(5)
    return proxy_again, (bytes(proxy._authkey), how, arguments), *more


def proxy_again(key, how, arguments):
    """A proxy of an object of a multiprocessing manager's, which asks for the key that processes inherit."""
    if IN_WORKER:
        from multiprocessing import process

        process.current_process().authkey = key
    return how(*arguments)


def pickle_of(value, function=None, deep=False, **how):
    """A Pickle, by cloudpickle of what plain pickle cannot take and of what is of __main__; `function`, of the
    value, may be. What cloudpickle cannot take of __main__ is named, where the other side has it or can run the
    main module: a function that uses a lock, say. `deep` is cloudpickler's, `how` is Pickle's."""
    plain = None
    if getattr(function, "__module__", None) != "__main__":
        try:
            plain = Pickle(value, **how)
        except Exception as error:
            if cloudpickler() is None:
                raise
            try:
                return _pickle_of_main(value, deep, **how)
            except Exception:
                raise error from None  # which says what it is that cannot be pickled
        if b"__main__" not in plain.data or not cloudpickler():
            return plain
    try:
        return _pickle_of_main(value, deep, **how)
    except Exception as error:
        if not IN_WORKER and not main_can_run():
            raise
        try:
            return plain or Pickle(value, **how)
        except Exception:
            raise error from None


def _pickle_of_main(value, deep, **how):
    """Of what is of __main__, without the values of variables that its functions assign where those cannot be
    pickled: a lock, say, that its initializer has been given."""
    try:
        return Pickle(value, cloudpickler(True, deep), **how)
    except Exception as error:
        if not (other := cloudpickler(False, deep)):
            raise
        try:
            return Pickle(value, other, **how)
        except Exception:
            raise error from None


def array_of(memory, kind, shape):
    """numpy's array over memory of the other side's, which it keeps."""
    import numpy

    array = numpy.frombuffer(memory, kind)
    return array if len(shape) == 1 else array.reshape(shape)


def with_arrays(value, arrays):
    """A value in which complex numbers are in the places of arrays: their indices. Lists and dicts in it are
    the same ones."""
    kind = type(value)
    if kind is complex:
        return arrays[int(value.real)]
    if kind is tuple:
        return tuple([with_arrays(each, arrays) for each in value])
    if kind is list:
        value[:] = [with_arrays(each, arrays) for each in value]
    elif kind is dict:
        for key, each in value.items():
            value[key] = with_arrays(each, arrays)
    return value


def tensor_beside(number):
    return _beside.tensors[number]


class _DeepUnpickler(pickle.Unpickler):
    def persistent_load(self, place):
        return kept(place)


def load(data, buffers, tensors, deep=False):
    before = getattr(_beside, "tensors", None)
    _beside.tensors = tensors
    try:
        views = map(memoryview, buffers)
        return _DeepUnpickler(io.BytesIO(data), buffers=views).load() if deep else pickle.loads(data, buffers=views)
    finally:
        _beside.tensors = before


def opened(answer):
    """What an interpreter has answered. Raises what it has raised."""
    raised, *parts = answer
    del answer
    if not raised:
        return load(*parts)
    error = _error_of(*parts)
    del parts
    try:
        raise error
    finally:
        del error


def _error_of(data, buffers, tensors):
    """Of the two pickles that _inside.py makes of an exception: the traceback, and the exception itself."""
    stream = io.BytesIO(data)
    text = pickle.load(stream)
    try:
        error = load(stream.read(), buffers, tensors)
        if not isinstance(error, BaseException):
            raise TypeError(f"its pickle gives {type(error).__name__!r}, which is no exception")
    except Exception as why:
        error = RuntimeError(
            f"what a task has raised cannot be unpickled here ({said(why)}): it is the last line of the cause"
        )
    return with_cause(error, text)


def said(error):
    """Its type and text, as at the end of a traceback."""
    import traceback

    return traceback.format_exception_only(type(error), error)[-1].strip()


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


def call_each(function, calls):
    return [function(*arguments) for arguments in calls]
