"""What runs in a worker, under the name _multipy_inside: its tasks, and a pool's model.

python/extension/crossing.h says what it is called with, and what it answers. The program has this module too,
and never calls it: its pickles name what is here.
"""

import _pickle as pickle
import _thread
import sys

from _multipy_by_value import IN_WORKER, have, keep, made, use_main
from _multipy_crossing import Pickle, Result, array_of, load, pickle_of, said, with_arrays

if IN_WORKER:
    import _multipy_host

_main = None


def prepare(path, main, tracker=None):
    """tracker: the descriptor that leads to the program's resource tracker, of multiprocessing's shared memory."""
    global _main
    sys.path[:0] = [entry for entry in path if entry not in sys.path]
    _main = main
    if tracker is not None:
        from multiprocessing import resource_tracker

        resource_tracker._resource_tracker._fd = tracker


def prepare_worker(name, number, *of_program):
    """Tells it apart from other workers as processes are: by the names of its thread and its process, and by a number."""
    import _multipy_bootstrap

    prepare(*of_program)
    own = _thread.get_ident()

    def name_thread(threading):
        if _thread.get_ident() == own:
            threading.current_thread().name = name

    def name_process(module):
        process = module.current_process()
        process._identity = (number,)
        process.name = f"InterpreterPoolWorker-{number}"

    _multipy_bootstrap.after("threading", name_thread)
    _multipy_bootstrap.after("multiprocessing.process", name_process)


def _run_main():
    """The program's main module, under the name __mp_main__, as multiprocessing runs it."""
    global _main
    from multiprocessing import spawn

    (name, place), _main = _main, None
    if name is not None:
        spawn._fixup_main_from_name(name)
    else:
        spawn._fixup_main_from_path(place)
    use_main(sys.modules["__main__"])


def _load_task(*parcel):
    try:
        return load(*parcel)
    except (AttributeError, ModuleNotFoundError) as error:  # (a worker's own: __mp_main__)
        if _main is None or "main__" not in str(error):
            raise
    _run_main()
    return load(*parcel)


_functions = {}  # of the program's main module, by their tokens (_functions.py), with those that these use


def keep_function(token, *parcel):
    made.clear()
    _functions[token] = _load_task(*parcel, True), made.copy()


def forget_function(token):
    del _functions[token]


def keep_variables(token, *parcel):
    keep(token, _load_task(*parcel, True))


def call_kept(token, arguments, keywords):
    function, used = _functions[token]
    have(used)
    return function(*arguments, **keywords)


def call_kept_for_each(token, calls):
    function, used = _functions[token]
    have(used)
    return [function(*arguments) for arguments in calls]


_hold = _give_up = _keep = 0


def use_functions(hold, give_up, keep, prepare_for_torch):
    """Addresses of functions of the program's: what holds a buffer of its, what gives that up, what keeps an
    object for it, and what is called before torch is imported."""
    import _multipy_bootstrap

    global _hold, _give_up, _keep
    _hold, _give_up, _keep = hold, give_up, keep
    _multipy_bootstrap.before("torch", lambda: _multipy_host.call_program(prepare_for_torch, None))


def _opened(address, size, described, tensors):
    """What a parcel's pickle has."""
    data = _multipy_host.program_memory(address, size, True, 0, 0, 0)
    return _load_task(data, _memory(described), tensors)


def _memory(described):
    return [
        _multipy_host.program_memory(*described[i : i + 3], _hold, _give_up, described[i + 3])
        for i in range(0, len(described), 4)
    ]


def run(*parcel):
    try:
        function, arguments, keywords = _opened(*parcel)
        del parcel
        if _threads_of_openmp:
            _limit_openmp()
        result = function(*arguments, **keywords)
        if type(result) is Result:
            return _packed(pickle_of(result.value, **result.crossing))
        return _packed(pickle_of(result))
    except _multipy_host.interrupted():
        raise
    except BaseException as error:
        return _packed_error(error)


def _packed(answer, raised=0, text=b""):
    described = b""
    if answer.buffers:
        import struct

        views = [memoryview(each) for each in answer.buffers]
        described = b"".join(struct.pack("=QQQ", *_multipy_host.buffer_facts(view)) for view in views)
        _multipy_host.call_program(_keep, views)
    return raised, text + bytes(answer.data), described, tuple(answer.tensors)


def _packed_error(error):
    """The traceback, and the exception: two pickles, since the other side may not be able to open the second."""
    import traceback

    text = '\n"""\n' + "".join(traceback.format_exception(type(error), error, error.__traceback__)) + '"""'
    error.__traceback__ = None
    try:
        answer = pickle_of(error)
    except _multipy_host.interrupted():
        raise
    except BaseException as why:
        answer = Pickle(RuntimeError(f"{said(error)} (which cannot be pickled: {said(why)})"))
    return _packed(answer, 1, pickle.dumps(text))


_threads_of_openmp = None
_modules_before = 0


def _limit_openmp():
    """For this thread, in all libraries of OpenMP that there are by now. They are one for the process and
    read its variables, unlike an interpreter's own OpenBLAS."""
    global _modules_before
    if len(sys.modules) != _modules_before and (control := sys.modules.get("threadpoolctl")):
        control.threadpool_limits(_threads_of_openmp, user_api="openmp")
        _modules_before = len(sys.modules)


def begin_joblib(threads):
    """In a worker joblib's backend of this name calls one function after the other, each with so many
    threads of OpenMP's (None: as many as it likes)."""
    import joblib
    from joblib._parallel_backends import SequentialBackend

    global _threads_of_openmp
    _threads_of_openmp = threads
    joblib.register_parallel_backend("multipy", SequentialBackend)


# ------------------------------------------------------- a pool's model


# Requests (python/extension/pool.cpp), and the formats of arrays that cross as they are (arrays.cpp).
_DIRECT, _PICKLED, _DIRECT_WITH_KEYWORDS, _DIRECT_WITH_ARRAYS = range(4)
_FORMATS = frozenset("?bBhHiIlLqQefd")
_NESTED = {tuple, list, dict}
_IMMUTABLE = {type(None), bool, int, float, str}
_MOST_NESTED = 256


def _is_direct(value, kind):
    """Whether a value that is none of _NESTED crosses without a pickle (python/extension/direct_values.h)."""
    if kind is float or kind is bool or value is None:
        return True
    if kind is int:
        return -(2**63) <= value < 2**63
    if kind is str:
        return value.isascii()
    if kind is _arrays_kind():
        return _is_plain(value)
    torch = sys.modules.get("torch")
    return kind is getattr(torch, "Tensor", None) and not value.__dict__


def _arrays_kind():
    return getattr(sys.modules.get("numpy"), "ndarray", None)


def _is_plain(array):
    kind = array.dtype
    return (
        kind.char in _FORMATS
        and kind.isnative
        and kind.metadata is None
        and array.size > 0
        and array.flags.c_contiguous
    )


def _is_directly_nested(value, arrays):
    """Whether one of _NESTED does, with all that is in it, of which arrays are appended."""
    seen, values = set(), [value]
    for each in values:
        kind = type(each)
        if kind not in _NESTED:
            if not _is_direct(each, kind):
                return False
            if kind in _IMMUTABLE:
                continue
            if id(each) in seen:
                return False
            seen.add(id(each))  # a tensor or an array
            if kind is _arrays_kind():
                arrays.append(each)
            continue
        if id(each) in seen or len(values) + len(each) > _MOST_NESTED:
            return False
        if kind is not tuple:  # which cannot be changed: two of them are as good as one
            seen.add(id(each))
        if kind is dict:
            if not all(type(key) is str and key.isascii() for key in each):
                return False
            each = each.values()
        values += each
    return True


def _arrays_of(facts):
    """Those that a request's facts describe (python/extension/arrays.h)."""
    arrays, at = [], 0
    while at < len(facts):
        address, size, is_read_only, token, kind, dimensions = facts[at : at + 6]
        at += 6 + dimensions
        memory = _multipy_host.program_memory(address, size, is_read_only, _hold, _give_up, token)
        arrays.append(array_of(memory, chr(kind), facts[at - dimensions : at]))
    return arrays


def _without_arrays(value, indices):
    """The value with complex numbers in the places of arrays: `indices` has theirs, by id()."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind([_without_arrays(each, indices) for each in value])
    if kind is dict:
        return {key: _without_arrays(each, indices) for key, each in value.items()}
    index = indices.get(id(value))
    return value if index is None else complex(index)


def _with_memory(value, arrays):
    """An answer that has arrays in it (python/extension/arrays.h)."""
    views, facts = [], []
    for array in arrays:
        view = memoryview(array)
        views.append(view)
        facts += map(int, _multipy_host.buffer_facts(view))
        facts += ord(array.dtype.char), array.ndim, *array.shape
    _multipy_host.call_program(_keep, views)
    return value, facts


class Model:
    """A pool's model: a parcel of what makes it, which each interpreter opens once."""

    def __init__(self, address, size, described, tensors):
        data = _multipy_host.program_memory(address, size, True, 0, 0, 0)
        self._parcel = bytes(data), list(described), tuple(tensors)
        self._lock = _thread.allocate_lock()
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
            return _packed_error(error)

    def __call__(self, request, *arguments):
        if self._model is None and (raised := self.make()):
            return raised
        try:
            if request == _DIRECT:
                result = self._model(*arguments)
            else:
                if request == _PICKLED:
                    arguments, keywords = _opened(*arguments)
                elif request == _DIRECT_WITH_ARRAYS:
                    facts, keywords, *arguments = arguments
                    arrays = _arrays_of(facts)
                    arguments = with_arrays(arguments, arrays)
                    keywords = with_arrays(keywords, arrays) if keywords else {}
                else:
                    keywords, *arguments = arguments
                result = self._model(*arguments, **keywords)
            if (kind := type(result)) in _NESTED:
                arrays = []
                if _is_directly_nested(result, arrays):
                    if not arrays:
                        return (result,)
                    indices = {id(array): index for index, array in enumerate(arrays)}
                    return _with_memory(_without_arrays(result, indices), arrays)
            elif _is_direct(result, kind):
                if kind in _IMMUTABLE or kind is not _arrays_kind():
                    return result
                return _with_memory(0j, [result])
            return _packed(pickle_of(result))
        except _multipy_host.interrupted():
            raise
        except BaseException as error:
            return _packed_error(error)


def _model_again(*parcel):
    model = Model.__new__(Model)
    model._parcel = parcel
    model._lock = _thread.allocate_lock()
    model._model = None
    return model


def _named(name):
    """What "module:attribute.of.it" names."""
    import importlib

    module, _, path = name.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found
