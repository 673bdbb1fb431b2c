"""Modules that have been imported and are executed when they are first used.

A package that is started by start_with() (_multipy_finder.py) imports, while it starts,
modules which most programs never use. Those that it lists as lazy are in sys.modules
without having been executed:

    import big.part              the module object is there, empty
    from big.part import name    stands for the name: a LazyName (_multipy_lazy_names.py)
    big.part.anything            executes it: from then on it is an ordinary module

Lazy modules come in groups. The first use of one, by any thread and in any way, executes
all of its group, in the order in which the package's start
came across them: the order of plain Python. While a group is being executed its imports
are plain Python's as well, so that what it needs of other groups is executed first. So
no code sees another order of side effects than plain Python's, only a later time. What
has to happen without a use of a module is the package's to say (Package in _multipy_finder.py).

What other packages (Package.importers) import later, while they are executed, is lazy in the
same way, but each module of it is a group of its own: it is executed when it is first
used, as if the program had imported it only then.

Threads: one of them at a time executes groups, since groups need each other in circles.
The lock for that is of the import system's kind, which sees a deadlock coming and then
lets the thread have what is there so far, as for any module being imported. Where an import
and the execution of a group wait for each other, it is the one that has come to another group
which goes on (gates.GoingOn), not an import that would get a module half executed. To all other
threads a group's modules stay lazy until all of them have been executed: a package
comes first, and what is imported of it later becomes its attribute then.
"""

import ast
import opcode
import sys
import types
from _thread import get_ident
from importlib import _bootstrap, import_module

import _multipy_gates as gates
import _multipy_host
import _multipy_lazy_names as lazy_names
from _multipy_needed_classes import classes_needed_in
from _multipy_lazy_names import frame_above, function_of, is_of_exception, names_of

_Module = types.ModuleType
_IMPORT_FROM = opcode.opmap["IMPORT_FROM"]
_EXTENDED_ARG = opcode.opmap["EXTENDED_ARG"]
# Known of a module before it is executed: without a use, and where an import only asks
# whether there is such a module.
_ITS_OWN = frozenset(("__name__", "__package__", "__loader__", "__file__", "__cached__"))
_ASKED_BY_IMPORTS = frozenset(("__spec__", "__path__"))
# Not there before: warnings makes the second in modules whose code warns, and unittest looks for it
# in all modules.
_NOT_YET = frozenset(("__path__", "__warningregistry__"))

_IMPORT_SYSTEM = frozenset((
    "importlib",
    "importlib._bootstrap",
    "importlib._bootstrap_external",
    "_frozen_importlib",
    "_multipy_gates",
))

_package = None  # what is started by start_with(): a Package (_multipy_finder.py)
_starting = None  # the thread that does, while it does
_needed = {}  # (module, function, line) -> names that have to be classes
_importing = {}  # thread -> how many modules of Package.importers it is executing
_executing = {}  # thread -> how many groups it is executing
_execution = gates.GateLock("<lazy modules>")  # held by the thread that executes a group


def belong_to(package):
    """Says whose modules are lazy. Once per interpreter."""
    global _package
    _package = package
    lazy_names.belong_to(package, _is_executed, _may_have_lazy_names)


class Starting:
    """Within it, this thread is the one that starts the package."""

    def __enter__(self):
        global _starting
        _starting = get_ident()

    def __exit__(self, *error):
        global _starting
        _starting = None


class _Counted:
    """Counts how often this thread is within it."""

    def __init__(self, threads):
        self._threads = threads
        self._thread = get_ident()

    def __enter__(self):
        self._threads[self._thread] = self._threads.get(self._thread, 0) + 1

    def __exit__(self, *error):
        self._threads[self._thread] -= 1
        if not self._threads[self._thread]:
            del self._threads[self._thread]


def Importing():
    """Within it, this thread executes a module of Package.importers."""
    return _Counted(_importing)


def is_starting():
    """Whether this thread starts the package, and what it imports may be lazy."""
    me = get_ident()
    return _starting == me and me not in _executing


def may_be_lazy():
    """Whether what this thread imports may be."""
    me = get_ident()
    return (_starting == me or me in _importing) and me not in _executing


def _may_have_lazy_names():
    """Whether modules that this thread executes now may get LazyNames of others that have them."""
    me = get_ident()
    return _starting == me or me in _importing or me in _executing


def is_importer(name):
    """Whether a module is of Package.importers."""
    return name.partition(".")[0] in _package.importers


def _is_of_import_system(frame):
    return frame is not None and frame.f_globals.get("__name__") in _IMPORT_SYSTEM


def importing_function(frame):
    """Of a frame of the import system: the function whose import it is at."""
    while _is_of_import_system(frame):
        frame = frame.f_back
    return frame and function_of(frame)


def is_done(group):
    """Whether a group has been executed, by its name."""
    return group in Group.by_name and Group.by_name[group].done


def execute(group):
    """Executes a group by its name, if that has not been done."""
    if group in Group.by_name:
        Group.by_name[group].execute()


class Group:
    by_name = {}
    _alone = set()  # names of modules of which each is a group

    def __init__(self, name):
        self.name = name
        self.executor = None  # the thread that executes it
        self.done = False
        self._modules = []  # in order
        self._begun = set()  # their names

    @classmethod
    def of(cls, name):
        """Of a module; None if it is not lazy."""
        if name in _package.at_once:
            return None
        if name in cls._alone:
            return cls._named(name)
        while name:
            if name in _package.groups:
                return cls._named(_package.groups[name])
            name = name.rpartition(".")[0]
        return None

    @classmethod
    def alone(cls, name):
        """The group of a module that the package's start has not come across: the package's
        modules need none of what its execution does, so it is a group of its own."""
        cls._alone.add(name)
        return cls._named(name)

    @classmethod
    def _named(cls, name):
        if name not in cls.by_name:
            cls.by_name[name] = Group(name)
        return cls.by_name[name]

    def add(self, module):
        self._modules.append(module)
        _Module.__setattr__(module, "__class__", LazyModule)

    def is_empty(self):
        return not self._modules

    def has_begun(self, name):
        return name in self._begun

    def execute(self, wanted=None):
        """Executes all of it; if this thread is at it already, `wanted` before the rest."""
        me = get_ident()
        if self.executor == me:
            if wanted is not None:
                self._execute(wanted)
            return
        # An interrupt halfway would leave what the modules have registered, which they cannot
        # register again, or a lock taken.
        _multipy_host.put_interrupts_off()
        try:
            # First the gate, as an import that comes to a group in its course has it.
            with gates.inside(_package.name, going_on=True):
                self._execute_inside(me, wanted)
        finally:
            _multipy_host.allow_interrupts()

    def _execute_inside(self, me, wanted):
        try:
            with gates.GoingOn():
                _execution.acquire()
        except _bootstrap._DeadlockError:
            # The thread that executes groups waits for this one, which does what that
            # one would do here.
            if self.executor is None and not self.done:
                self._execute_all(me)
            elif wanted is not None:
                with self._being_executed():
                    self._execute(wanted)
            return
        try:
            if not self.done:
                self._execute_all(me)
        finally:
            _execution.release()

    def _being_executed(self):
        """What this thread does while it executes the group. What a module of an importer
        imports may be lazy then as well as when it is executed at once."""
        return _Counted(_importing if is_importer(self.name) else _executing)

    def _execute_all(self, me):
        self.executor = me
        try:
            with self._being_executed():
                _package.before(self.name)
                for module in self._modules:
                    if names_of(module)["__name__"] not in _package.made_by:
                        self._execute(module)
                for module in self._modules:
                    _settle(module)
                self.done = True
                _package.after(self.name)
        finally:
            self.executor = None

    def execute_as_ever(self, execution):
        """Of a group none of whose modules is lazy: the execution of the module that has its name."""
        self.executor = get_ident()
        try:
            execution()
            self.done = True
            _package.after(self.name)
        finally:
            self.executor = None

    def _execute(self, module):
        names = names_of(module)
        name = names["__name__"]
        if name in self._begun:
            return
        _execute_parent(name)
        if name in self._begun:
            return
        self._begun.add(name)
        maker = _package.made_by.get(name)
        if maker:
            made = import_module(maker)
            if type(made) is LazyModule:
                Group.of(maker).execute(made)
            return
        spec = names["__spec__"]
        spec._initializing = True  # for the messages about circular imports
        try:
            spec.loader.exec_module(module)
        except BaseException:
            self._begun.discard(name)  # the next use tries again, as the next import would
            raise
        finally:
            spec._initializing = False
        if is_importer(name):
            lazy_names.note_tables(module)
        lazy_names.put_real_ones_in(module)
        complete(module)


def _execute_parent(name):
    parent = sys.modules.get(name.rpartition(".")[0])
    if type(parent) is LazyModule:
        Group.of(names_of(parent)["__name__"]).execute(parent)


def _is_executed(module):
    """Whether it has been, or this is at it."""
    if type(module) is not LazyModule:
        return True
    name = names_of(module)["__name__"]
    return Group.of(name).has_begun(name)


def complete(module):
    """What the package does with a module of any package when that has been executed."""
    name = names_of(module)["__name__"]
    if name in _package.completed:
        _package.completed[name](module)


def _settle(module):
    """It becomes an ordinary module."""
    if type(module) is LazyModule:  # it may have given itself another class
        _Module.__setattr__(module, "__class__", _Module)
    lazy_names.put_real_ones_in(module)  # of one that others have made


class LazyModule(_Module):
    """A module that has not been executed, or is just being."""

    def __getattribute__(self, name):
        if name == "__class__":
            return LazyModule
        names = names_of(self)
        group = Group.of(names["__name__"])
        # It has been executed, or this thread is at it. (Its group is being executed, or
        # stopped halfway with an exception: then what is missing is tried once more.)
        if group.has_begun(names["__name__"]) and group.executor in (None, get_ident()):
            try:
                return _Module.__getattribute__(self, name)
            except AttributeError:
                if group.executor is not None:
                    raise
        if name in _ITS_OWN:
            if name in names:
                return names[name]
            if names["__name__"] in _package.made_by:  # by C code: it has no more of them
                raise AttributeError(name)
        if get_ident() not in _executing:
            if name in _ASKED_BY_IMPORTS and name in names:
                return names[name]
            if name in _NOT_YET:
                raise AttributeError(name)
            if isinstance(names.get(name), _Module):  # import a.b.c as d
                return names[name]
            found, value = _lazy_name_or_answer(self, name, frame_above(1))
            if found:
                return value
        elif name in (answers := _package.answers_inside.get(function_of(frame_above(1)), ())):
            return answers[name]
        group.execute(self)
        importer = frame_above(1)
        if _imports_from(importer):  # when the import began, this had none that are of others
            lazy_names.before_import_from(self, name, importer.f_globals)
        return _Module.__getattribute__(self, name)

    def __setattr__(self, name, value):
        names = names_of(self)
        group = Group.of(names["__name__"])
        if not (
            group.has_begun(names["__name__"])
            or name in _ITS_OWN
            or name in _ASKED_BY_IMPORTS
            or name in _NOT_YET
            or name == "__class__"
            or _is_of_import_system(frame_above(1))  # a module becomes an attribute of its package
        ):
            group.execute(self)  # which would set it anew later
        _Module.__setattr__(self, name, value)

    def __delattr__(self, name):
        Group.of(names_of(self)["__name__"]).execute(self)
        _Module.__delattr__(self, name)


def _lazy_name_or_answer(module, name, caller):
    """(whether there is one, and it), for a use that need not execute the module."""
    module_name = names_of(module)["__name__"]
    imports = _imports_from(caller)
    function = function_of(caller)
    if (module_name, name) in _package.answers and not imports:
        return True, _package.answers[module_name, name]
    if name in _package.answers_in.get(function, ()):
        return True, _package.answers_in[function][name]
    asks_for_import = function[1] == "_handle_fromlist" and name != "__all__"
    if name in _package.lazy_names_in.get(function, ()):
        return True, lazy_names.lazy_name(module, name, caller)
    if not may_be_lazy():
        importer = importing_function(caller) if asks_for_import else None
        return name in _package.lazy_names_in.get(importer, ()), None
    if name in _package.handed_on.get(function, ()):
        return True, lazy_names.lazy_name(module, name, _frame_of_another_module(caller))
    if is_starting() and (module_name, name) in _package.answers_at_start:
        return True, _package.answers_at_start[module_name, name]
    if is_starting() and (module_name, name) in _package.constants:
        try:
            return True, _constant(module, name)
        except Exception:
            pass  # it is no such constant here, or there is no source: the module is executed
    if imports:
        if not is_starting() and _is_of_value(name):
            return _literal_or_lazy_name(module, name, caller)
        lazy = not _has_to_be_a_class(module_name, name, caller)
        return lazy, lazy and lazy_names.lazy_name(module, name, caller)
    # The import system asks whether to import a submodule. Whether the name is one, and not
    # something of the module itself, is to be seen when that has been executed.
    return asks_for_import, None


def _is_of_value(name):
    """Whether it is, by convention, not of a class or a function. (The package's own start is known to
    do without a look at those.)"""
    return name.isupper() or name.startswith("__")


def _literal_or_lazy_name(module, name, caller):
    """As _lazy_name_or_answer, of the name of a value. A str or a number may be given to C code, which
    takes nothing else for it: it is had from the module's source, or the module is executed. What is
    made by calls, a table of functions say, can be a LazyName."""
    try:
        value = _assigned(module, name).value
    except Exception:
        return False, None  # it is assigned in another way, or not there; or there is no source
    try:
        value = ast.literal_eval(value)
        hash(value)  # of a list or a dict: two of them would not be one
    except Exception:
        return True, lazy_names.lazy_name(module, name, caller)
    return True, value


def _has_to_be_a_class(module_name, name, importer):
    """Whether the name may come to be in an `except` or a `match`, which take nothing but classes: in the
    module that imports it, or, if it is that of an exception, in one that has it from there."""
    if is_of_exception(name) and module_name not in _package.raisers:
        return True
    key = *function_of(importer), importer.f_code.co_firstlineno
    if key not in _needed:
        _needed[key] = frozenset(classes_needed_in(importer.f_code))
    return name in _needed[key]


def _imports_from(frame):
    return frame is not None and _operation_of(frame) == _IMPORT_FROM


def _operation_of(frame):
    code, at = frame.f_code.co_code, frame.f_lasti
    while code[at] == _EXTENDED_ARG:  # in CPython 3.10 f_lasti is that of the first of them
        at += 2
    return code[at]


def _frame_of_another_module(frame):
    """The next one above: it asks the module of this one."""
    names = frame.f_globals
    while frame.f_back and frame.f_globals is names:
        frame = frame.f_back
    return frame


def _constant(module, name):
    """What the module's source assigns to a name, without executing the rest of it."""
    assigned = compile(ast.Expression(_assigned(module, name).value), names_of(module)["__file__"], "eval")
    return eval(assigned, {})


def _assigned(module, name):
    """The one assignment to the name that the module's source has at its top level: `name = ...`, or
    with an annotation."""
    names = names_of(module)
    lines = names["__spec__"].loader.get_source(names["__name__"]).splitlines()
    [at] = [i for i, line in enumerate(lines) if line.startswith((f"{name} =", f"{name}: "))]
    end = at + 1
    while end < len(lines) and lines[end][:1] in ("", " ", ")", "]", "}"):
        end += 1
    [statement] = ast.parse("\n".join(lines[at:end])).body
    return statement
