"""What goes by value of the main module, under the name _multipy_by_value: functions and classes, by cloudpickle, and
the variables that these use. Both sides have this module.
"""

import functools
import io
import os
import sys
import types
import weakref

# (A worker imports this when it starts, so what few of them need is imported where it is.)

IN_WORKER = "_multipy_host" in sys.builtin_module_names


@functools.cache  # a look for what is not there takes longer than a task
def cloudpickler(with_all=True, deep=False):
    """What pickles by value what is defined in __main__, and lambdas; None where it is not installed. Without
    the values of variables of __main__ that functions assign, and what they may look up, unless with_all. What the
    other side keeps is named where functions use it, with `deep` wherever it is."""
    import importlib

    for module in "cloudpickle", "joblib.externals.cloudpickle":
        try:
            kind = importlib.import_module(module).CloudPickler
        except ImportError:
            continue
        if not hasattr(kind, "_dynamic_function_reduce"):
            return kind
        kind = _with_kept_variables(kind, with_all)
        return _deep(kind) if deep else kind
    return None


def code_in_its_file(reduce_code, code):
    """cloudpickle (3.1) says "<dynamic-code>" of all code: without lines in tracebacks, nor for inspect."""
    make, arguments, *more = reduce_code(code)
    return make, tuple([code.co_filename if isinstance(each, str) and each == "<dynamic-code>" else each for each in arguments]), *more


# --- variables of __main__ that functions assign ("global model"), as an executor's initializer does
#
# cloudpickle gives the functions of each pickle variables of their own. Where functions of __main__
# assign some, all of a worker's have their variables in one place, and what has been assigned there
# stays: the others are what they are in the program each time.

# In a worker:
_variables = {}  # of the program's __main__
_kept = set()  # names of those that functions assign


def _with_kept_variables(kind, with_all):
    class Pickler(kind):
        known = {}  # what the other side keeps, by id() (_functions.py)

        def _dynamic_function_reduce(self, function):
            make, arguments, (dictionary, slots), _, _, set_state = super()._dynamic_function_reduce(function)
            arguments, used = self._with_variables(function, arguments, slots["__globals__"])
            again = function.__module__, function.__qualname__, make, arguments
            state = set_state, (dictionary, {**slots, "__globals__": used})
            return _function_again, again, state, None, None, _set_function_state

        def _with_variables(self, function, arguments, used):
            main = vars(sys.modules["__main__"])
            if function.__globals__ is not main:
                return arguments, used
            if with_all:
                used = {**looked_up(function), **used}
            used = {name: self._or_its_place(each) for name, each in used.items()}
            if assigned := assigned_in(main):
                code, variables, *others = arguments
                if not with_all:
                    used = {name: each for name, each in used.items() if name not in assigned}
                arguments = code, _Made(_variables_of_main, variables), *others
                used = _Made(_not_assigned, used, assigned)
            return arguments, used

        def _or_its_place(self, value):
            place = self.place_of(value)
            return value if place is None else _Made(kept, place)

        def place_of(self, value):
            if (known := self.known.get(id(value))) is None:
                return None
            self.groups.add(known.group)
            return known.place

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
            state = set_state, state, _version(value), looked_up(value) if with_all else {}
            return _class_again, (names, make, arguments), state, None, None, _set_class_state

    return Pickler


def _deep(kind):
    class Pickler(kind):
        def persistent_id(self, value):
            return self.place_of(value)

    return Pickler


_KINDS_OF_SLOTS = (str, tuple, list, dict, set, frozenset)


def _class_with_slots(slots, make, arguments, *more):
    """cloudpickle (3.1) makes a class without its slots first: with a __dict__, in which its objects have all."""
    match arguments:
        case metaclass, name, bases, dict() as names, identity, extra:
            arguments = metaclass, name, bases, {**names, "__slots__": slots}, identity, extra
    return make, arguments, *more


# --- names that code of __main__ looks up: in annotations, by eval() and the like
#
# Which these are, only strings say.

_LOOKING_UP = {"globals", "eval", "exec", "__main__"}


def looked_up(definition):
    """What a function or a class of __main__ may find by its name there: what annotations name; if it looks names up, what
    its strings name, and all functions and classes."""
    main = vars(sys.modules["__main__"])
    if IN_WORKER or definition.__module__ != "__main__":
        return {}
    texts = [each for each in _annotations_of(definition).values() if isinstance(each, str)]
    found = {}
    if isinstance(definition, types.FunctionType):
        if (strings := _strings_of(definition.__code__)) is not None:
            texts += strings
            found = {name: each for name, each in list(main.items()) if _can_be_looked_up(each)}
    if texts:
        import re

        names = {name for text in texts for name in re.findall(r"[^\W\d]\w*", text)}
        found.update((name, main[name]) for name in sorted(names & main.keys()))
    return found


def _annotations_of(definition):
    if isinstance(definition, type):
        return vars(definition).get("__annotations__", {})
    try:
        return definition.__annotations__
    except Exception:  # from CPython 3.14 on they are evaluated here
        return {}


_can_be_pickled = weakref.WeakKeyDictionary()


def _can_be_looked_up(value):
    """Functions and classes of __main__ that can be pickled: others (one that uses the pool, say) must not keep a task from
    an interpreter."""
    if not isinstance(value, (type, types.FunctionType)) or value.__module__ != "__main__":
        return False
    if value not in _can_be_pickled:
        try:
            cloudpickler(False)(io.BytesIO(), 5, buffer_callback=lambda _: None).dump(value)
        except Exception:
            _can_be_pickled[value] = False
        else:
            _can_be_pickled[value] = True
    return _can_be_pickled[value]


@functools.cache
def _strings_of(code):
    """None if it does not look names up."""
    names, strings = _names_and_strings(code)
    return strings if names & _LOOKING_UP or {"modules", "__name__"} <= names else None


def _names_and_strings(code):
    names, strings = set(code.co_names), [each for each in code.co_consts if isinstance(each, str)]
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            more_names, more_strings = _names_and_strings(each)
            names |= more_names
            strings += more_strings
    return names, strings


# --- functions of __main__
#
# One that comes back is the program's own, which may be a key there. In a worker the main module has those that a task
# can use, so that it can pickle them.

made = {}  # in a worker: by their names


def _function_again(module, qualname, make, arguments):
    own = _own_function(qualname) if module == "__main__" else None
    return own if own and own.__code__ == arguments[0] else make(*arguments)


def _own_function(qualname):
    """Of the main module, where that has been run."""
    main = sys.modules["__main__"]
    own = None if IN_WORKER and not _has_run(main) else _found(main, qualname)
    own = getattr(own, "__func__", own)  # a class method's
    return own if isinstance(own, types.FunctionType) else None


def _set_function_state(function, state):
    set_state, state = state
    if _own_function(function.__qualname__) is function:
        if IN_WORKER:
            function.__globals__.update(state[1]["__globals__"])
        return
    set_state(function, state)
    name = function.__qualname__
    if IN_WORKER and function.__module__ == "__main__" and name.isidentifier():
        made[name] = function
        have({name: function})


def have(functions):
    """In the main module, if it has not been run here."""
    main = sys.modules["__main__"]
    if not _has_run(main):
        vars(main).update(functions)


# --- classes of __main__
#
# cloudpickle makes a class anew for each pickle, also where it then takes the one that it has made before; and it
# sets its attributes each time, on the program's own class, too. What tasks have set stays, until the program sets some.

_made_here = weakref.WeakKeyDictionary()  # of the other side's: the version of their attributes
_versions = weakref.WeakKeyDictionary()  # of classes of our __main__: what their attributes are bound to, and which version that is


def _version(kind):
    if kind.__module__ != "__main__" or _found(sys.modules["__main__"], kind.__qualname__) is not kind:
        return None
    attributes = list(vars(kind).items())
    before, version = _versions.get(kind, ((), 0))
    if len(before) != len(attributes) or any(a is not b or c is not d for (a, c), (b, d) in zip(before, attributes)):
        version += 1
        _versions[kind] = attributes, version
    return version


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
    _made_here[made] = None
    if IN_WORKER and module == "__main__" and "." not in qualname:
        setattr(main, qualname, made)  # so that a task can pickle its objects, into a file say
    return made


def _set_class_state(kind, state):
    set_state, state, version, names = state
    if kind not in _made_here:
        return
    if IN_WORKER:
        have(names)
    if version is not None and version == _made_here[kind]:
        attributes, *more = state
        state = {name: each for name, each in attributes.items() if hasattr(type(each), "__get__")}, *more  # methods
    _made_here[kind] = version
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
    import enum

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
    for values in _groups.values():
        _variables.update(values)


# What variables of __main__ are bound to that functions change in place (a table that an initializer fills): each is sent
# once, and named in pickles. In a worker:
_groups = {}  # of what has been sent together: by their numbers, the values by names


def keep(group, values):
    main = sys.modules["__main__"]
    if _has_run(main):  # functions that have been had by running it may have changed its own
        for name, own in _variables.items():
            if name in values and type(own) is type(values[name]):
                values[name] = own
    _groups[group] = values


def forget(group):
    del _groups[group]


def kept(place):
    group, name = place
    return _groups[group][name]


def _variables_of_main(common):
    if "__name__" not in _variables:
        _variables.update(common)
    return _variables


def _not_assigned(variables, assigned):
    _kept.update(assigned)
    return {name: each for name, each in variables.items() if name not in assigned or name not in _variables}


def assigned_in(names):
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
