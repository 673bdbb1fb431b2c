"""Functions of the main module on their way to workers, and variables that they use.

By value a function has with it what it uses of the main module: other functions, classes, variables. That a table
of a million entries is sent with each task would take seconds, and what a task puts into a cache would be gone with the next
one. So a function goes to a worker once, as it is then, and tasks name it. It goes again when one of the things that it
uses has been bound to another object: which, is found by looking at names, as values can be large.

What such functions may change in place (a table that an initializer fills, say) is one object for all of them in a
worker, as it is in the main module. It goes there once, before what uses it, and pickles name it.
"""

import contextlib
import functools
import itertools
import sys
import threading
import types
import typing

from multipy._workers import MOST_FUNCTIONS, by_value, crossing, inside

_tokens = itertools.count()


class Sent:
    """A function that has been pickled, and what it used then."""

    __slots__ = ("token", "pickle", "used", "groups")

    def __init__(self, function, used, known, how):
        self.token, self.used = next(_tokens), used
        own = crossing.pickle_of(function, function, deep=True, known=known, **how)
        self.pickle, self.groups = _call(inside.keep_function, self.token, own), in_order(own.groups)

    def used_the_same(self, used):
        return len(used) == len(self.used) and all(a is b for a, b in zip(used, self.used))


class _Group:
    """Variables that go to workers in one pickle: what is in several of them is one object there, too."""

    is_over = False  # all have been bound to other objects

    def __init__(self, values, known, how):
        self.number = next(_tokens)
        self.pack(values, known, how)

    def pack(self, values, known, how):
        own = crossing.Pickle(values, by_value.cloudpickler(deep=True), known=known, **how)
        self.pickle, self.groups = _call(inside.keep_variables, self.number, own), own.groups


def _call(keeper, token, pickle):
    return crossing.Pickle((keeper, (token, pickle.data, pickle.buffers, pickle.tensors), {}))


class _Kept:
    """A variable's value, which workers have."""

    __slots__ = ("value", "group", "place")

    def __init__(self, value, group, name):
        self.value, self.group, self.place = value, group, (group.number, name)

    def is_in_use(self):
        return sys.getrefcount(self.value) > 2  # this one's, and the call's


def in_order(groups):
    """Groups, and those that they name, in the order in which a worker has to have them."""
    found, todo = set(), list(groups)
    while todo:
        if (group := todo.pop()) not in found:
            found.add(group)
            todo += group.groups
    return sorted(found, key=lambda group: group.number)


class Functions:
    """Those that a pool has been given, and the variables that these use."""

    def __init__(self, how):
        self._how = how  # of _crossing.Pickle
        self._lock = threading.RLock()
        self._sent = {}
        self._variables = {}  # _Kept ones, by names
        self._first = False  # whether what the initializer uses is packed again when the first task is submitted
        self.known = {}  # the _Kept ones by the id() of their values: each time another dictionary

    def begin(self, initializer):
        """What an initializer uses goes to workers as it is when there is a task for them."""
        if by_value.cloudpickler():
            self._keep(_used_by(initializer)[1])
            self._first = True

    def submitting(self):
        if not self._first:
            return
        with self._lock:
            if self._first and self._variables:
                values = {name: each.value for name, each in self._variables.items()}
                with contextlib.suppress(Exception):  # what has become one that cannot be pickled stays as it was
                    next(iter(self._variables.values())).group.pack(values, {}, self._how)
            self._first = False

    def _keep(self, named):
        self._forget_others()
        assigned = by_value.assigned_in(vars(sys.modules["__main__"]))  # which are a worker's own anyway
        new = {
            name: value
            for name, value in named.items()
            if not (isinstance(value, _FIXED) or name in assigned or self._has(name, value))
        }
        with contextlib.suppress(Exception):  # a function that uses one that cannot be pickled goes by its name
            self._add(new)

    def _has(self, name, value):
        known = self._variables.get(name)
        return known is not None and known.value is value

    def _add(self, values):
        if values:
            group = _Group(values, self.known, self._how)
            self._have({**self._variables, **{name: _Kept(value, group, name) for name, value in values.items()}})

    def _forget_others(self):
        """Values that the main module's variables are no longer bound to, nor anything else."""
        main = vars(sys.modules["__main__"])
        still = {name: each for name, each in self._variables.items() if main.get(name) is each.value or each.is_in_use()}
        self._have(still)

    def _have(self, variables):
        before = {each.group for each in self._variables.values()}
        self._variables = variables
        self.known = {id(each.value): each for each in variables.values()}
        for group in before - {each.group for each in variables.values()}:
            group.is_over = True

    def sent(self, function):
        """None for what is not a function at the main module's top level: that goes with each task."""
        if not _goes_by_value(function) or vars(sys.modules["__main__"]).get(function.__qualname__) is not function:
            return None
        used, named = _used_by(function)
        with self._lock:
            known = self._sent.pop(function.__qualname__, None)
            if known is None or not known.used_the_same(used):
                known = None  # with what it has used
                self._keep(named)
                known = Sent(function, used, self.known, self._how)
            self._sent[function.__qualname__] = known
            while len(self._sent) > MOST_FUNCTIONS:
                del self._sent[next(iter(self._sent))]  # the one that has been unused for longest
            return known

    def sent_for(self, function):
        """For many tasks that are submitted at once; also a function that is made by another one, or a lambda."""
        if _goes_by_value(function):
            return self.sent(function) or Sent(function, [], self.known, self._how)
        return None


def _goes_by_value(function):
    return type(function) is types.FunctionType and function.__module__ == "__main__" and by_value.cloudpickler()


def _used_by(function):
    """The objects that it uses of the main module, and those that these do: each once, in the same order each time. And
    what its variables are bound to, by their names."""
    main = vars(sys.modules["__main__"])
    found, named, seen = [], {}, set()
    todo = [function]
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        found.append(each)
        if isinstance(each, types.FunctionType):
            found.append(each.__code__)
            todo += each.__defaults__ or ()
            todo += (each.__kwdefaults__ or {}).values()
            todo += vars(each).values()
            todo += _contents(each.__closure__ or ())
            if each.__globals__ is main:
                values = {name: main[name] for name in _names_in(each.__code__) if name in main}
                values.update(by_value.looked_up(each))
                todo += values.values()
                named.update(values)
        elif isinstance(each, type):
            if each.__module__ == "__main__":
                todo += each.__bases__
                todo += vars(each).values()
                todo += by_value.looked_up(each).values()
        elif isinstance(each, (staticmethod, classmethod)):
            todo.append(each.__func__)
        elif isinstance(each, property):
            todo += each.fget, each.fset, each.fdel
        elif isinstance(each, functools._lru_cache_wrapper):
            todo.append(each.__wrapped__)
        elif isinstance(each, functools.partial):
            todo += each.func, *each.args, *each.keywords.values()
        elif isinstance(each, types.MethodType):
            todo += each.__func__, each.__self__
        elif type(each).__module__ == "__main__":
            todo.append(type(each))
    return found, named


# What is not changed in place. (Functions go with what uses them, classes are made once.)
_FIXED = (
    int, float, complex, str, bytes, type(None), type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType,
    functools._lru_cache_wrapper, typing.TypeVar,
)  # fmt: skip


def _contents(cells):
    for cell in cells:
        try:
            yield cell.cell_contents
        except ValueError:  # empty
            pass


@functools.cache
def _names_in(code):
    names = dict.fromkeys(code.co_names)
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            names.update(dict.fromkeys(_names_in(each)))
    return tuple(names)
