"""Functions of the main module on their way to workers.

By value a function has with it what it uses of the main module: other functions, classes, variables. That a table
of a million entries is sent with each task would take seconds, and what a task puts into a cache would be gone with the next
one. So a function goes to a worker once, as it is then, and tasks name it. It goes again when one of the things that it
uses has been bound to another object: which, is found by looking at names, as values can be large.
"""

import functools
import itertools
import sys
import threading
import types

from multipy._workers import MOST_FUNCTIONS, by_value, crossing, inside

_tokens = itertools.count()


class Sent:
    """A function that has been pickled, and what it used then."""

    __slots__ = ("token", "pickle", "used")

    def __init__(self, function, used, how):
        self.token, self.used = next(_tokens), used
        self.pickle = crossing.pickle_of((inside.keep_function, (self.token, function), {}), function, **how)

    def used_the_same(self, used):
        return len(used) == len(self.used) and all(a is b for a, b in zip(used, self.used))


class Functions:
    """Those that a pool has been given."""

    def __init__(self, how):
        self._how = how  # of _crossing.Pickle
        self._lock = threading.RLock()
        self._sent = {}

    def sent(self, function):
        """None for what is not a function at the main module's top level: that goes with each task."""
        if not _goes_by_value(function) or vars(sys.modules["__main__"]).get(function.__qualname__) is not function:
            return None
        used = _used_by(function)
        with self._lock:
            known = self._sent.pop(function.__qualname__, None)
            if known is None or not known.used_the_same(used):
                known = Sent(function, used, self._how)
            self._sent[function.__qualname__] = known
            while len(self._sent) > MOST_FUNCTIONS:
                del self._sent[next(iter(self._sent))]  # the one that has been unused for longest
            return known

    def sent_for(self, function):
        """For many tasks that are submitted at once; also a function that is made by another one, or a lambda."""
        if _goes_by_value(function):
            return self.sent(function) or Sent(function, [], self._how)
        return None


def _goes_by_value(function):
    return type(function) is types.FunctionType and function.__module__ == "__main__" and by_value.cloudpickler()


def _used_by(function):
    """The objects that it uses of the main module, and those that these do: each once, in the same order each time."""
    main = vars(sys.modules["__main__"])
    found, seen = [], set()
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
                todo += [main[name] for name in _names_in(each.__code__) if name in main]
        elif isinstance(each, type):
            if each.__module__ == "__main__":
                todo += each.__bases__
                todo += vars(each).values()
        elif isinstance(each, (staticmethod, classmethod)):
            todo.append(each.__func__)
        elif isinstance(each, property):
            todo += each.fget, each.fset, each.fdel
        elif isinstance(each, functools._lru_cache_wrapper):
            todo.append(each.__wrapped__)
    return found


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
