"""What decorates functions for torch.compile(), while torch._dynamo has not been executed.

Packages decorate functions when they are imported, for programs that compile:

    @torch.compiler.disable          torch.compile() calls it and does not trace it
    @torch.compiler.allow_in_graph   torch.compile() makes one operator of it

Until torch._dynamo is executed nothing is compiled, and neither means anything. So
Decorations.answers stand for torch._dynamo's functions and note what they are called with;
apply() calls those functions with it, in the same order, once they are there. A function that
was disabled stays the object that it became: it calls the function itself at first, and
what torch._dynamo has made of it later.

torch._dynamo goes by the types of what it finds in modules and tables, where LazyNames may be
(_multipy_lazy_names.py), and its guards do so in C at each call. trace_real_objects() has it find what
they stand for.

Threads: everything with the GIL, from any thread.
"""

import functools
import sys
import weakref
from types import FunctionType

import _multipy_lazy_modules as lazy_modules
import _multipy_lazy_names as lazy_names

_DYNAMO = "torch._dynamo"
_settled = {}  # id of a class -> reference to it, which has no LazyNames


class Decorations:
    def __init__(self):
        self._pending = []  # calls to be made, in order: called with torch._dynamo
        self.answers = {
            (_DYNAMO, "allow_in_graph"): functools.partial(self._marked, "allow_in_graph"),
            (_DYNAMO, "assume_constant_result"): functools.partial(self._marked, "assume_constant_result"),
            (_DYNAMO, "disable"): self._disabled,
        }

    def apply(self):
        """When torch._dynamo has been executed."""
        while self._pending:
            self._pending.pop(0)(sys.modules[_DYNAMO])

    def _marked(self, name, function):
        if not _can_wait(function, (FunctionType, type)):  # a class stays what it is, too
            return getattr(_executed(), name)(function)
        self._pending.append(lambda dynamo: getattr(dynamo, name)(function))
        return function

    def _disabled(self, function=None, *arguments, **keywords):
        if function is None and not lazy_modules.is_done(_DYNAMO):
            return _Disabling(self._disabled, arguments, keywords)
        if not _can_wait(function):
            return _executed().disable(function, *arguments, **keywords)
        callee = function

        @functools.wraps(function)
        def disabled(*arguments, **keywords):
            return callee(*arguments, **keywords)

        def disable(dynamo):
            nonlocal callee
            callee = dynamo.disable(function, *arguments, **keywords)
            vars(disabled).update(vars(callee))
            dynamo.decorators.skip_code(disabled.__code__)

        self._pending.append(disable)
        return disabled


def trace_real_objects():
    """When torch._dynamo has been executed. These three are where a variable is made of an object."""
    from torch._dynamo.variables.builder import SourcelessBuilder, VariableBuilder
    from torch._dynamo.variables.lazy import LazyVariableTracker

    VariableBuilder.__call__ = _of_real_object(VariableBuilder.__call__, 1)
    SourcelessBuilder.create = staticmethod(_of_real_object(SourcelessBuilder.create, 1))
    LazyVariableTracker.create = staticmethod(_of_real_object(LazyVariableTracker.create, 0))


def _of_real_object(make, position):
    """make() with the real object in that place of its arguments, and real ones in its attributes and class."""

    @functools.wraps(make)
    def made(*arguments, **keywords):
        if len(arguments) > position:
            found = arguments[position]
            if type(found) is lazy_names.LazyName:
                found = lazy_names.in_all_places(found)
                arguments = (*arguments[:position], found, *arguments[position + 1 :])
            lazy_names.settle_attributes(found)  # torch 2.6 traces a function without asking again
            _settle(found if issubclass(type(found), type) else type(found))
        return make(*arguments, **keywords)

    return made


def _settle(cls):
    known = _settled.get(id(cls))
    if known is None or known() is not cls:
        lazy_names.settle_class(cls)
        _settled[id(cls)] = weakref.ref(cls)


class _Disabling:
    """What torch.compiler.disable() gives without a function: a decorator and a context."""

    def __init__(self, disabled, arguments, keywords):
        self._disabled, self._arguments, self._keywords = disabled, arguments, keywords
        self._contexts = []

    def __call__(self, function):
        return self._disabled(function, *self._arguments, **self._keywords)

    def __enter__(self):
        self._contexts.append(_executed().disable(None, *self._arguments, **self._keywords))
        return self._contexts[-1].__enter__()

    def __exit__(self, *error):
        return self._contexts.pop().__exit__(*error)


def _can_wait(function, kinds=FunctionType):
    # Modules of torch.nn and callable objects become something else right away, and disabled classes.
    return isinstance(function, kinds) and not lazy_modules.is_done(_DYNAMO)


def _executed():
    lazy_modules.execute(_DYNAMO)
    return sys.modules[_DYNAMO]
