"""What stands for names that are imported from modules which have not been executed.

`from big.part import name` gives a LazyName where big.part is lazy (_multipy_lazy_modules.py). It is called,
subclassed, subscripted and asked for attributes as what it stands for, which executes the module.
isinstance() with it is false until then, and that without executing anything: no instance can have been made.
When the module has been executed, the real objects take the places of the LazyNames in the modules that
imported them, and in their tables: dictionaries and lists that are global there, or attributes of their classes.
Modules that may have no LazyNames, such as the program's, import the real objects, also from
modules that have LazyNames. In other places they stay (a variable, a default argument), which
makes no difference to Python code. For C code that looks at the types of objects there are in_all_places(),
settle_class() and settle_attributes().

Exceptions have no LazyNames once the package has been started: modules give out the classes when they are
asked for them (_OnDemand).

Threads: a LazyName is made by the thread that imports it. All else any thread may do.
"""

import functools
import gc
import sys
import types
from sys import getrefcount
from _weakref import getweakrefcount
from importlib import import_module

import _multipy_host

_ENDS_OF_EXCEPTIONS = ("Error", "Exception", "Exit", "Interrupt", "Warning")

_package = None  # what is started by start_with(): a Package (_multipy_finder.py)
_is_executed_module = None
_may_have_lazy_names = None
_lazy_names = {}  # module's name -> {name -> LazyName}
_weakly_referenced = []  # LazyNames that are out of use: what they stand for lives on, so they do
_filled_later = []  # (namespace of a module, name) of dictionaries and lists that were empty when it had been executed
_is_some_kept = False  # by something else than namespaces, of a module that has been executed
_slot = object.__getattribute__


def belong_to(package, is_executed, may_have_lazy_names):
    """Says whose names they are, and what tells whether a module has been executed, and whether what this
    thread imports may have LazyNames. Once per interpreter."""
    global _package, _is_executed_module, _may_have_lazy_names
    _package, _is_executed_module, _may_have_lazy_names = package, is_executed, may_have_lazy_names
    _multipy_host.call_about_stand_ins(LazyName, before_import_from)


def before_import_from(module, name, importer):
    """`from module import name`, or *, of a module that has LazyNames of others, also in tables."""
    names = names_of(module)
    for key in _lazy_ones_of_all(module) if name == "*" else [name]:
        found = names.get(key)
        if type(found) in (dict, list):
            if not _may_have_lazy_names():
                _execute_all_in_table(found)
        elif type(found) is LazyName:  # still: no other thread has executed it meanwhile
            if importer is not None:
                _slot(found, "_importers").append(importer)
            if not _may_have_lazy_names():
                names[key] = real(found)


def _lazy_ones_of_all(module):
    """Those of the names that * stands for."""
    wanted = getattr(module, "__all__", None)  # which executes it, as the import is about to
    lazy_ones = [key for key, value in [*names_of(module).items()] if type(value) in (LazyName, dict, list)]
    return [key for key in lazy_ones if (key[:1] != "_" if wanted is None else key in wanted)]


def is_of_exception(name):
    return name.endswith(_ENDS_OF_EXCEPTIONS)


def names_of(module):
    """Its namespace, without executing it."""
    return types.ModuleType.__getattribute__(module, "__dict__")


def frame_above(number):
    """So many above the caller's; None if C code called, and no Python code called that."""
    try:
        return sys._getframe(number + 1)
    except ValueError:
        return None


def function_of(frame):
    if frame is None:
        return None, None
    return frame.f_globals.get("__name__"), frame.f_code.co_name


def lazy_name(module, name, importer):
    """What stands for a name of the module, for the frame that imports it."""
    of_module = _lazy_names.setdefault(names_of(module)["__name__"], {})
    if name not in of_module:
        of_module[name] = LazyName(module, name)
    lazy = of_module[name]
    _slot(lazy, "_importers").append(importer.f_globals)
    return lazy


def put_real_ones_in(module):
    """It has been executed: modules that have its lazy names get the real objects, and so do their tables."""
    global _is_some_kept
    keepers = {}  # id of a namespace with names that are elsewhere, too -> it
    of_module = _lazy_names.pop(names_of(module)["__name__"], {})
    while of_module:
        lazy = of_module.popitem()[1]
        found = _found(lazy)
        if getweakrefcount(lazy):
            _weakly_referenced.append(lazy)
        for names in _slot(lazy, "_importers"):
            for key in [key for key, value in names.items() if value is lazy]:
                names[key] = found
            if type(found) is LazyName:  # the module has it from another lazy one
                _slot(found, "_importers").append(names)
            on_demand = names.get("__getattr__")
            if type(on_demand) is _OnDemand:
                on_demand.settle(lazy)
        if getrefcount(lazy) > 2:  # this variable's, and the argument's
            keepers.update((id(names), names) for names in _slot(lazy, "_importers"))
    if keepers:
        _is_some_kept = True
        for names in keepers.values():
            for table in _tables_in(names):
                _put_real_ones_in_table(table)
        _put_real_ones_in_filled_tables()


def note_tables(module):
    """A module that may have lazy names has been executed: what of it is empty, other modules may fill with theirs."""
    global _is_some_kept
    names = names_of(module)
    _filled_later.extend((names, key) for key, value in names.items() if type(value) in (dict, list) and not value)
    if _is_some_kept:  # a function may have executed it, and put it into a table then
        _is_some_kept = False
        _put_real_ones_in_filled_tables()


def _tables_in(names):
    """Dictionaries and lists of a module, and of classes that it defines."""
    for value in [*names.values()]:
        if issubclass(type(value), (dict, list)):
            yield value
        elif issubclass(type(value), type) and value.__module__ == names.get("__name__"):
            for attribute in [*type.__getattribute__(value, "__dict__").values()]:
                if issubclass(type(attribute), (dict, list)):
                    yield attribute


def _put_real_ones_in_filled_tables():
    for names, key in _filled_later:
        table = names.get(key)
        if type(table) in (dict, list):
            _put_real_ones_in_table(table)


def _put_real_ones_in_table(table):
    if issubclass(type(table), dict):
        for key, value in [*dict.items(table)]:
            if type(value) is LazyName and _has_been_executed(value):
                dict.__setitem__(table, key, _found(value))
        return
    for i, value in enumerate(list.copy(table)):
        if type(value) is LazyName and _has_been_executed(value):
            list.__setitem__(table, i, _found(value))


def _execute_all_in_table(table):
    for lazy in [*table.values()] if type(table) is dict else table[:]:
        if type(lazy) is LazyName:
            real(lazy)
    _put_real_ones_in_table(table)


def _has_been_executed(lazy):
    """As _is_executed(), when the end has been reached."""
    return names_of(_slot(lazy, "_module"))["__name__"] not in _lazy_names


class _OnDemand:
    """The __getattr__ of a module (PEP 562) that gives exceptions out when they are asked for: they
    are raised, and stand in `except` and in calls of warnings.warn(), as nothing but a class can."""

    def __init__(self, names):
        self._names = names
        self._lazy = {}
        self._others = names.get("__getattr__")

    def take(self, lazy):
        """What it stands for is no name of the module's from now on."""
        for key in [key for key, value in self._names.items() if value is lazy]:
            self._lazy[key] = lazy
            del self._names[key]
        self._names["__getattr__"] = self

    def settle(self, lazy):
        for key in [key for key, value in self._lazy.items() if value is lazy]:
            del self._lazy[key]
            self._names.setdefault(key, real(lazy))
        if self._lazy:
            return
        if self._others is None:
            del self._names["__getattr__"]
        else:
            self._names["__getattr__"] = self._others

    def __call__(self, name):
        if name in self._lazy:
            return real(self._lazy[name])
        if self._others is not None:
            return self._others(name)
        raise AttributeError(f"module {self._names['__name__']!r} has no attribute {name!r}")


def give_exceptions_on_demand():
    """When the package has been started. (Its own modules do no more with them than import them.)"""
    for module in _package.raisers:
        for name, lazy in _lazy_names.get(module, {}).items():
            if is_of_exception(name):
                for names in _slot(lazy, "_importers"):
                    on_demand = names.get("__getattr__")
                    if type(on_demand) is not _OnDemand:
                        on_demand = _OnDemand(names)
                    on_demand.take(lazy)


def real(lazy):
    while type(lazy) is LazyName:  # its module may have it from another lazy one
        lazy = _found(lazy)
    return lazy


def in_all_places(lazy):
    """What it stands for, which takes its place wherever it is found: in tables, attributes, cells, defaults."""
    found = real(lazy)
    _replace(lazy, found)
    return found


def _replace(old, new):  # (no cell of this function's is among the places: nothing here closes over them)
    for place in gc.get_referrers(old):
        if type(place) is tuple:
            _replace(place, tuple(_with(new, old, place)))
        elif type(place) is list and place is not _weakly_referenced:
            place[:] = _with(new, old, place)
        elif type(place) is types.CellType:
            place.cell_contents = new
        elif type(place) is types.FunctionType:
            if place.__defaults__ is old:
                place.__defaults__ = new
        elif type(place) is functools.partial:
            function, *others = place.__reduce__()[2]
            if function is old:
                place.__setstate__((new, *others))
        else:
            _replace_values(place, old, new)


def _with(new, old, values):
    return [new if each is old else each for each in values]


def _replace_values(place, old, new):
    names = place
    if not isinstance(place, dict):  # an object that has none as yet: its attributes
        try:
            names = _slot(place, "__dict__")
        except AttributeError:
            return
    if not isinstance(names, dict):
        return
    keys = [key for key, value in names.items() if value is old]
    classes = [each for each in gc.get_referrers(names) if isinstance(each, type)] if "__module__" in names else []
    for key in keys:
        if classes:
            type.__setattr__(classes[0], key, new)  # it remembers what attributes it has found
        else:
            dict.__setitem__(names, key, new)


def settle_class(cls):
    """Gives it and its bases what their LazyNames stand for."""
    for base in type.__getattribute__(cls, "__mro__"):
        for name, value in [*type.__getattribute__(base, "__dict__").items()]:
            if type(value) is LazyName:
                type.__setattr__(base, name, real(value))


def settle_attributes(owner):
    """Gives an object what the LazyNames among its attributes stand for. A module or class keeps its own."""
    if issubclass(type(owner), (type, types.ModuleType)):
        return
    try:
        attributes = _slot(owner, "__dict__")
    except AttributeError:
        return
    if isinstance(attributes, dict):
        for name, value in [*attributes.items()]:
            if type(value) is LazyName:
                dict.__setitem__(attributes, name, real(value))


def _found(lazy):
    module, name = _slot(lazy, "_module"), _slot(lazy, "_name")
    try:
        return getattr(module, name)
    except AttributeError:
        return import_module(f"{module.__name__}.{name}")


def _called(lazy):
    """What a call of it is a call of."""
    answer = _package.calls.get((names_of(_slot(lazy, "_module"))["__name__"], _slot(lazy, "_name")))
    return real(lazy) if answer is None or _is_executed(lazy) else answer


def _is_executed(lazy):
    return _is_executed_module(_slot(lazy, "_module"))


def _asked_by_typing():
    """Annotations: typing looks at all that it is given, and needs to know nothing of it."""
    return function_of(frame_above(2))[0] in ("typing", "typing_extensions")


def _asked_for_bases():
    """types.new_class() asks those alone that are no classes for what they stand for."""
    return function_of(frame_above(2)) == ("types", "resolve_bases")


class _Call:
    """__call__ of LazyNames. Not a function: what is called sees its caller's frame next to its own."""

    def __get__(self, lazy, owner=None):
        # inspect asks the type of what says that it is a class how that is called.
        return type.__call__ if lazy is None else _called(lazy)


class LazyName:
    """Stands for a name of a module that has not been executed."""

    __slots__ = ("_module", "_name", "_importers", "__weakref__")

    def __init__(self, module, name):
        object.__setattr__(self, "_module", module)
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_importers", [])

    def __getattribute__(self, name):
        if name == "__mro_entries__":
            return lambda bases: (real(self),)
        if name == "__reduce_ex__":  # pickle and copy ask so, and not by the type as others do
            return _slot(self, name)
        if _asked_by_typing() and not _is_executed(self):
            return _slot(self, name)
        if name == "__class__" and _asked_for_bases():
            return LazyName
        return getattr(real(self), name)

    def __setattr__(self, name, value):
        setattr(real(self), name, value)

    def __delattr__(self, name):
        delattr(real(self), name)

    def __instancecheck__(self, instance):
        return _is_executed(self) and isinstance(instance, real(self))

    def __subclasscheck__(self, cls):
        return _is_executed(self) and issubclass(cls, real(self))

    __call__ = _Call()

    def __get__(self, instance, owner=None):
        """An attribute of a class: a function is a method then."""
        found = real(self)
        get = getattr(type(found), "__get__", None)
        return found if get is None else get(found, instance, owner)

    def __eq__(self, other):
        if self is other or _asked_by_typing():
            return self is other
        return real(self) == other

    def __hash__(self):
        return id(self) if _asked_by_typing() else hash(real(self))

    def __or__(self, other):
        if _slot(self, "_name").isupper():  # a set or a dict, not a class in an annotation
            return real(self) | other
        import typing

        return typing.Union[self, other]

    def __ror__(self, other):
        if _slot(self, "_name").isupper():
            return other | real(self)
        import typing

        return typing.Union[other, self]

    def __getitem__(self, key):
        return real(self)[key]

    def __setitem__(self, key, value):
        real(self)[key] = value

    def __delitem__(self, key):
        del real(self)[key]

    def __contains__(self, item):
        if (_slot(self, "_module").__name__, _slot(self, "_name")) in _package.empty:
            return _is_executed(self) and item in real(self)
        return item in real(self)

    def __iter__(self):
        return iter(real(self))

    def __bool__(self):
        return bool(real(self))

    def __len__(self):
        return len(real(self))

    def __enter__(self):
        return real(self).__enter__()

    def __exit__(self, *error):
        return real(self).__exit__(*error)

    def __repr__(self):
        return repr(real(self))

    def __str__(self):
        return str(real(self))

    def __format__(self, how):
        return format(real(self), how)

    def __reversed__(self):
        return reversed(real(self))

    def __reduce_ex__(self, protocol):
        import copy

        return copy.copy, (real(self),)  # of a class or a function: itself


def _forward(name):
    def operator(self, *others):
        return getattr(real(self), name)(*others)

    setattr(LazyName, name, operator)


# Of values that modules make: sets, paths, numbers.
for _operator in "add and ge gt le lt mul radd rand rmul rsub rtruediv rxor sub truediv xor".split():
    _forward(f"__{_operator}__")
for _operator in "float fspath index int invert neg".split():
    _forward(f"__{_operator}__")
