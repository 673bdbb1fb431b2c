"""Finds what a package imports while it starts, and makes lazy modules of what it lists as such.

    start_with(package)    from now on, importing package.name starts it so:
    import big             executed as ever, but what it imports meanwhile of package.groups
                           is put into sys.modules and noted with its group
    import user.part       the same, later, of a package that package.importers lists
    import user.tools.x    lazy itself, if package.groups lists it, and not a package

What becomes of those is told in _multipy_lazy_modules.py. All other imports are plain Python's,
with one exception: a module that the start has not come across, of a group that has not been
executed. The group is executed first, since it may import that module itself, in its order.

Threads: the import system holds locks while a finder is asked. Executing a group may mean
to wait for another thread that is executing one. A thread that waits for that in the middle of
an import gives the import system's own locks back for that time: the one that executes imports
as well, perhaps that very module.
"""

import sys
import types
from _thread import get_ident
from importlib import _bootstrap, import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader, SourcelessFileLoader

import _multipy_gates as gates
import _multipy_lazy_modules as lazy_modules
import _multipy_lazy_names as lazy_names


class Package:
    """What start_with() is to do; a class of the package's own knows it."""

    name = ""
    groups = {}  # prefix of modules' names -> name of their group
    at_once = frozenset()  # modules within those prefixes that are executed as ever
    answers = {}  # (module, name) -> what may be had for it without executing the module
    calls = {}  # (module, name) -> what is called instead while the module has not been executed
    answers_at_start = {}  # the same, of the package's start
    constants = frozenset()  # (module, name) that its start reads: had from the module's source
    raisers = frozenset()  # modules with exceptions that others of the package only hand on
    made_by = {}  # module that C code makes -> module that calls this code
    lazy_names_in = {}  # function -> names it gets as LazyNames, after the start, too
    handed_on = {}  # __getattr__ of a module -> names that importers get from it as LazyNames
    empty = frozenset()  # (module, name) of containers that only executing lazy modules fills
    answers_in = {}  # function -> {name -> what it gets for it}, after the start, too
    answers_inside = {}  # the same for functions that are called while modules are executed
    further = ()  # modules that plain Python's start comes to by lazy modules
    needs = {}  # module -> those that it takes to be there: others import them, which are lazy
    importers = frozenset()  # packages whose imports, too, may be lazy, once it has been started
    completed = {}  # module of any package -> what is called with it when it has been executed

    def started(self):
        """Runs when the package has been executed, in the thread that did it."""

    def before(self, group):
        """Runs before a group is executed, or a module of one that has none that is lazy."""

    def after(self, group):
        """Runs when a group has been executed."""


def start_with(package):
    """From now on: import package.name starts it so. Once per interpreter. Returns the finder."""
    lazy_modules.belong_to(package)
    sys.meta_path.insert(0, _Finder(package))
    return sys.meta_path[0]


def _module_lock_given_back(name):
    lock = _bootstrap._get_module_lock(name)
    return gates.GivenBack(lock.acquire, lock.release)


class _Finder:
    def __init__(self, package):
        self._package = package
        self._begun = False  # to start it; stays so when that is done
        self._started = False

    def find_spec(self, name, path=None, target=None):
        if name == self._package.name:
            return self._spec_of_others(name, path, target, lambda real: _PackageLoader(real, self))
        if not self._begun:
            return None
        spec = self._lazy_spec(name, path, target)
        if spec is None and name in self._package.completed:
            return self._spec_of_others(name, path, target, _CompletingLoader)
        return spec

    def _lazy_spec(self, name, path, target):
        """None if the module is to be imported as ever."""
        if target is None and name in sys.modules and self._may_be_below_a_lazy_one(name):
            # The import system has just asked the package above it for its __path__, which has
            # executed that, and it has imported this module.
            return _AlreadyThere.spec_of(name)
        if lazy_modules.may_be_lazy():
            with gates.import_lock_given_back():
                for needed in self._package.needs.get(name, ()):
                    import_module(needed)
        group = lazy_modules.Group.of(name)
        lazy = group is not None and (lazy_modules.may_be_lazy() or self._is_for_lazy_names())
        if lazy and not lazy_modules.is_starting():
            group = lazy_modules.Group.alone(name)
        is_done = group is None or group.done or group.executor == get_ident()
        lazy = lazy and not is_done
        if self._started and lazy_modules.is_importer(name):
            return _with_loader(name, path, _LazyImporterLoader if lazy else _ImporterLoader)
        if is_done:
            return None
        if lazy:
            return _with_loader(name, path, _LazyLoader)
        # A module that the start would not have come to by itself, but its group might.
        with gates.import_lock_given_back(), _module_lock_given_back(name):
            if self._started and group.is_empty():
                self._package.before(group.name)
            else:
                group.execute()
        if name in sys.modules:
            return _AlreadyThere.spec_of(name)
        return _with_loader(name, path, _LoaderAsEver) if name == group.name else None

    def _may_be_below_a_lazy_one(self, name):
        return (
            name.startswith(f"{self._package.name}.") or lazy_modules.Group.of(name) is not None
        )

    def _is_for_lazy_names(self):
        """Whether the function that imports is one of those that get LazyNames."""
        return lazy_modules.importing_function(sys._getframe(3)) in self._package.lazy_names_in

    def _spec_of_others(self, name, path, target, loader):
        """What the finders after this one find, with a loader that is given theirs."""
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            spec = finder.find_spec(name, path, target)
            if spec is not None and hasattr(spec.loader, "exec_module"):
                spec.loader = loader(spec.loader)
            if spec is not None:
                return spec
        return None

    def start(self, loader, module):
        """Executes the package's own module, which imports the others."""
        for name in self._package.made_by:
            made = sys.modules[name] = types.ModuleType(name)
            made.__spec__ = ModuleSpec(name, None)
            lazy_modules.Group.of(name).add(made)
        with lazy_modules.Starting():
            self._begun = True
            loader.exec_module(module)
            for name in self._package.further:
                try:
                    import_module(name)
                except ModuleNotFoundError:
                    pass  # of another version
            self._package.started()
            self._complete_those_there()
        lazy_names.give_exceptions_on_demand()
        self._started = True


    def _complete_those_there(self):
        for name in self._package.completed:
            module = sys.modules.get(name)
            if isinstance(module, types.ModuleType) and type(module) is not lazy_modules.LazyModule:
                lazy_modules.complete(module)


def _with_loader(name, path, loader):
    spec = PathFinder.find_spec(name, path)
    if spec is not None and isinstance(spec.loader, (SourceFileLoader, SourcelessFileLoader)):
        spec.loader = loader(spec.loader)
    return spec


class _LazyLoader:
    def __init__(self, real):
        self._real = real

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._real
        lazy_modules.Group.of(module.__name__).add(module)


class _LoaderAsEver(_LazyLoader):
    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._real
        group = lazy_modules.Group.of(module.__name__)
        group.execute_as_ever(lambda: self._real.exec_module(module))
        lazy_modules.complete(module)


class _ImporterLoader(_LazyLoader):
    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._real
        with lazy_modules.Importing():
            self._real.exec_module(module)
        lazy_names.note_tables(module)


class _LazyImporterLoader(_ImporterLoader):
    def exec_module(self, module):
        if module.__spec__.submodule_search_locations is None:
            _LazyLoader.exec_module(self, module)
        else:
            super().exec_module(module)


class _PackageLoader(_LazyLoader):
    def __init__(self, real, finder):
        super().__init__(real)
        self._finder = finder

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._real
        self._finder.start(self._real, module)


class _CompletingLoader(_LazyLoader):
    def __getattr__(self, name):  # of a spec whose module is not executed: its source, say
        return getattr(self._real, name)

    def create_module(self, spec):
        return self._real.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._real
        self._real.exec_module(module)
        lazy_modules.complete(module)


class _AlreadyThere:
    """Gives the import system a module that has been imported while it was being looked for."""

    def __init__(self, module):
        self._module = module
        self._spec = module.__spec__

    @classmethod
    def spec_of(cls, name):
        # The import system goes on with the module's own __spec__ rather than with the one
        # that it is given, and would execute it again.
        module = sys.modules[name]
        spec = ModuleSpec(name, cls(module))
        lazy_names.names_of(module)["__spec__"] = spec  # its class may allow no such assignment
        return spec

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        lazy_names.names_of(module)["__spec__"] = self._spec
