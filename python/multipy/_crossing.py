"""How objects cross between the program's Python and a worker's.

Both sides have this module, under the name _multipy_crossing: an installed package `multipy` is not
what the name means in a worker. What runs there is in _inside.py and _loop.py. Objects go as
pickles. What has much memory goes beside them, by reference: buffers (numpy's arrays,
pickle.PickleBuffer) and plain torch tensors. The memory is one on both sides, so that what one side
writes the other sees, and read-only stays read-only.
"""

import _pickle as pickle  # the same classes without what the module imports, which a worker may not need
import copyreg
import enum
import functools
import importlib
import io
import os
import sys
import threading
import types
import weakref

IN_WORKER = "_multipy_host" in sys.builtin_module_names
_beside = threading.local()


class Pickle:
    """An object on its way: the pickle, and what lies beside it.

    copy_below: buffers of fewer bytes are copied, and tensors with storages of fewer. read_only: whether the
    other buffers are, on the other side. sharing: a _sharing.Sharing, which lives as long as the pickle.
    """

    __slots__ = ("data", "buffers", "tensors", "_copy_below", "_read_only", "_sharing")

    def __init__(self, value, by_value=None, copy_below=0, read_only=False, sharing=None):
        if sharing:
            sharing.begin()
        self.buffers, self.tensors = [], []
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
                table[types.CodeType] = functools.partial(_code_in_its_file, reduce_code)
            pickler = kind.__new__(kind)
            pickler.__dict__["dispatch_table"] = table
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


def _code_in_its_file(reduce_code, code):
    """cloudpickle (3.1) says "<dynamic-code>" of all code: without lines in tracebacks, nor for inspect."""
    make, arguments, *more = reduce_code(code)
    return make, tuple([code.co_filename if isinstance(each, str) and each == "<dynamic-code>" else each for each in arguments]), *more


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


def pickle_of(value, function=None, **how):
    """A Pickle, by cloudpickle of what plain pickle cannot take and of what is of __main__; `function`, of the
    value, may be. What cloudpickle cannot take of __main__ is named, where the other side has it or can run the
    main module: a function that uses a lock, say. `how` is Pickle's."""
    plain = None
    if getattr(function, "__module__", None) != "__main__":
        try:
            plain = Pickle(value, **how)
        except Exception as error:
            if cloudpickler() is None:
                raise
            try:
                return _pickle_of_main(value, **how)
            except Exception:
                raise error from None  # which says what it is that cannot be pickled
        if b"__main__" not in plain.data or not cloudpickler():
            return plain
    try:
        return _pickle_of_main(value, **how)
    except Exception as error:
        if not IN_WORKER and not main_can_run():
            raise
        try:
            return plain or Pickle(value, **how)
        except Exception:
            raise error from None


def _pickle_of_main(value, **how):
    """Of what is of __main__, without the values of variables that its functions assign where those cannot be
    pickled: a lock, say, that its initializer has been given."""
    try:
        return Pickle(value, cloudpickler(), **how)
    except Exception as error:
        if not (other := cloudpickler(with_assigned=False)):
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


def load(data, buffers, tensors):
    before = getattr(_beside, "tensors", None)
    _beside.tensors = tensors
    try:
        return pickle.loads(data, buffers=map(memoryview, buffers))
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


@functools.cache  # a look for what is not there takes longer than a task
def cloudpickler(with_assigned=True):
    """What pickles by value what is defined in __main__, and lambdas; None where it is not installed. Without
    the values of variables of __main__ that functions assign, unless with_assigned."""
    for module in "cloudpickle", "joblib.externals.cloudpickle":
        try:
            kind = importlib.import_module(module).CloudPickler
        except ImportError:
            continue
        return _with_kept_variables(kind, with_assigned) if hasattr(kind, "_dynamic_function_reduce") else kind
    return None


# --- variables of __main__ that functions assign ("global model"), as an executor's initializer does
#
# cloudpickle gives the functions of each pickle variables of their own. Where functions of __main__
# assign some, all of a worker's have their variables in one place, and what has been assigned there
# stays: the others are what they are in the program each time.

# In a worker:
_variables = {}  # of the program's __main__
_kept = set()  # names of those that functions assign


def _with_kept_variables(kind, with_assigned):
    class Pickler(kind):
        def _dynamic_function_reduce(self, function):
            make, arguments, state, *more = super()._dynamic_function_reduce(function)
            main = vars(sys.modules["__main__"])
            if function.__globals__ is main and (assigned := _assigned_in(main)):
                code, variables, *others = arguments
                dictionary, slots = state
                if not with_assigned:
                    rest = {name: each for name, each in slots["__globals__"].items() if name not in assigned}
                    slots = {**slots, "__globals__": rest}
                arguments = code, _Made(_variables_of_main, variables), *others
                state = dictionary, {**slots, "__globals__": _Made(_not_assigned, slots["__globals__"], assigned)}
            return make, arguments, state, *more

        def reducer_override(self, value):
            if isinstance(value, type) and _is_made_by_its_module(value):
                return NotImplemented  # its name
            reduced = super().reducer_override(value)
            if not isinstance(value, type) or type(reduced) is not tuple or len(reduced) != 6:
                return reduced
            slots = vars(value).get("__slots__")
            if isinstance(slots, _KINDS_OF_SLOTS) and not issubclass(value, tuple):
                reduced = _class_with_slots(slots, *reduced)
            make, arguments, state, _, _, set_state = reduced
            names = value.__module__, value.__qualname__
            return _class_again, (names, make, arguments), (set_state, state), None, None, _set_class_state

    return Pickler


_KINDS_OF_SLOTS = (str, tuple, list, dict, set, frozenset)


def _class_with_slots(slots, make, arguments, *more):
    """cloudpickle (3.1) makes a class without its slots first: with a __dict__, in which its objects have all."""
    match arguments:
        case metaclass, name, bases, dict() as names, identity, extra:
            arguments = metaclass, name, bases, {**names, "__slots__": slots}, identity, extra
    return make, arguments, *more


# --- classes of __main__
#
# cloudpickle makes a class anew for each pickle, also where it then takes the one that it has made before; and it
# sets its attributes each time, on the program's own class, too.

_made_here = weakref.WeakSet()  # of the other side's


def _class_again(names, make, arguments):
    """A class of the other side's: the same one each time."""
    module, qualname = names
    known = getattr(sys.modules[make.__module__], "_DYNAMIC_CLASS_TRACKER_BY_ID", {}).get(arguments[-2])
    if known is not None:
        return known
    main = sys.modules["__main__"]
    if module == "__main__" and _has_run(main) and isinstance(own := _found(main, qualname), type):
        return own
    made = make(*arguments)
    made.__qualname__ = qualname
    _made_here.add(made)
    if IN_WORKER and module == "__main__" and "." not in qualname:
        setattr(main, qualname, made)  # so that a task can pickle its objects, into a file say
    return made


def _set_class_state(kind, state):
    if kind in _made_here:
        set_state, state = state
        set_state(kind, state)


def _has_run(main):
    return IN_WORKER and main.__name__ == "__mp_main__"


def _found(module, qualname):
    try:
        return functools.reduce(getattr, qualname.split("."), module)
    except AttributeError:
        return None


def _is_made_by_its_module(kind):
    """Whether a class of the program's __main__ has to be had by running that: code that is called when the class is
    made would find neither the keywords of its definition nor members with their attributes, or be called twice."""
    if IN_WORKER or kind.__module__ != "__main__" or not main_can_run():
        return False
    own = [each for each in kind.__mro__ if each.__module__ == "__main__"]
    hooks = ("__init__", "__new__") if isinstance(kind, enum.EnumMeta) else ("__init_subclass__",)
    if type(kind).__module__ != "__main__" and not any(hook in vars(each) for each in own for hook in hooks):
        return False
    return _found(sys.modules["__main__"], kind.__qualname__) is kind


class _Made:
    """Stands for what a function makes there."""

    def __init__(self, function, *arguments):
        self._call = function, arguments

    def __reduce__(self):
        return self._call


def use_main(module):
    """The program's main module has been imported here: the variables are its from now on."""
    global _variables
    kept = {name: _variables[name] for name in _kept if name in _variables}
    # (Those that its functions have are not the module's: multiprocessing copies them.)
    own = (each for each in _functions_in(vars(module)) if each.__module__ == "__mp_main__")
    _variables = next((each.__globals__ for each in own), vars(module))
    _variables.update(kept)


def _variables_of_main(common):
    if "__name__" not in _variables:
        _variables.update(common)
    return _variables


def _not_assigned(variables, assigned):
    _kept.update(assigned)
    return {name: each for name, each in variables.items() if name not in assigned or name not in _variables}


def _assigned_in(names):
    """The variables of a module that its functions and methods assign."""
    found = set()
    for function in _functions_in(names):
        if function.__globals__ is names:
            found |= _assigned_by(function.__code__)
    return frozenset(found)


def _functions_in(names):
    for each in list(names.values()):
        for one in list(vars(each).values()) if isinstance(each, type) else (each,):
            if isinstance(one, (staticmethod, classmethod)):
                one = one.__func__
            elif isinstance(one, property):
                one = one.fget
            if isinstance(one, functools._lru_cache_wrapper):
                one = one.__wrapped__
            while isinstance(one, types.FunctionType):
                yield one
                one = vars(one).get("__wrapped__")


@functools.cache
def _assigned_by(code):
    import opcode

    extended, found = 0, set()
    for operation, argument in zip(code.co_code[::2], code.co_code[1::2]):
        extended = extended << 8 | argument
        if operation == opcode.opmap["STORE_GLOBAL"]:
            found.add(code.co_names[extended])
        if operation != opcode.EXTENDED_ARG:
            extended = 0
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            found |= _assigned_by(each)
    return found


def main_of_program():
    """(name, path) of this program's main module, as multiprocessing's spawn has it. None if it has neither.
    It is run in a worker that lacks something of it: where nothing pickles that by value."""
    main = sys.modules["__main__"]
    name = getattr(getattr(main, "__spec__", None), "name", None)
    path = getattr(main, "__file__", None)
    if name is None and path is None:
        return None
    return name, path and os.path.abspath(path)


@functools.cache
def main_can_run():
    """Whether the main module can be run in a worker: it is a file, and says itself what is not to be run there."""
    if IN_WORKER or (main := main_of_program()) is None:
        return False
    try:
        with open(main[1], "rb") as file:
            lines = file.read().splitlines()
    except (OSError, TypeError):
        return False
    return any(line.startswith(b"if") and b"__name__" in line for line in lines)


def call_each(function, calls):
    return [function(*arguments) for arguments in calls]
