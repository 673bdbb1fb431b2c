"""Python objects as bytes, and back, in this interpreter or another one.

Storages (the bytes of tensors) and TorchScript modules are not pickled: they
are handed over aside, by reference, so that N interpreters share one copy.
"""

import _pickle as pickle  # the same classes without what the module imports
import _thread
import functools
import io
import sys

PROTOCOL = 4


def _importer_of(package_importer):
    from torch.package import OrderedImporter, sys_importer

    return OrderedImporter(package_importer, sys_importer)


class _Aside:
    """What one pickle refers to without containing it."""

    def __init__(self):
        self.storages = []  # one uint8 tensor for each distinct storage
        self.values = []  # what crosses as an IValue
        self._index = {}  # address of the C++ StorageImpl -> index

    def persistent_id(self, obj):
        import torch

        if isinstance(obj, torch.storage.TypedStorage):
            return ("storage", self._add(obj._untyped_storage), str(obj.dtype)[len("torch."):])
        if isinstance(obj, torch.UntypedStorage):
            return ("storage", self._add(obj), None)
        if isinstance(obj, torch.jit.ScriptModule):
            self.values.append(obj)
            return ("value", len(self.values) - 1)
        return None

    def _add(self, storage):
        import torch

        index = self._index.get(storage._cdata)
        if index is None:
            index = self._index[storage._cdata] = len(self.storages)
            self.storages.append(torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage))
        return index


class _Pickler(pickle.Pickler):
    def __init__(self, buffer, aside):
        super().__init__(buffer, PROTOCOL)
        self.persistent_id = aside.persistent_id


class _Unpickler(pickle.Unpickler):
    def __init__(self, buffer, persistent_load):
        super().__init__(buffer)
        self.persistent_load = persistent_load


def dump(obj, package_importer):
    """-> (bytes, byte tensors, values, whether torch is needed to load it)."""
    buffer = io.BytesIO()
    if "torch" not in sys.modules:
        pickle.Pickler(buffer, PROTOCOL).dump(obj)
        return buffer.getvalue(), [], [], False

    aside = _Aside()
    if package_importer is None:
        _Pickler(buffer, aside).dump(obj)
    else:
        from torch.package._package_pickler import create_pickler

        pickler = create_pickler(buffer, _importer_of(package_importer), PROTOCOL)
        pickler._persistent_id = aside.persistent_id
        pickler.dump(obj)
    return buffer.getvalue(), aside.storages, aside.values, True


def load(data, storages, values, package_importer, uses_torch):
    if not uses_torch:
        return pickle.loads(data)

    import torch

    untyped = [tensor.untyped_storage() for tensor in storages]

    def persistent_load(reference):
        kind, index, *rest = reference
        if kind == "value":
            return values[index]
        if rest[0] is None:
            return untyped[index]
        return torch.storage.TypedStorage(
            wrap_storage=untyped[index], dtype=getattr(torch, rest[0]), _internal=True
        )

    if package_importer is None:
        return _Unpickler(io.BytesIO(data), persistent_load).load()
    from torch.package._package_unpickler import PackageUnpickler

    unpickler = PackageUnpickler(_importer_of(package_importer), io.BytesIO(data))
    unpickler.persistent_load = persistent_load
    return unpickler.load()


@functools.cache
def _importer_class():
    import linecache
    import weakref

    from torch.package import PackageImporter
    from torch.package._package_unpickler import PackageUnpickler
    from torch.package.package_importer import _package_imported_modules

    class Unpickler(PackageUnpickler):
        """One that takes storages from `sharing` (_multipy_sharing.py) if that is not None."""

        def __init__(self, sharing, importer, *args, **kwargs):
            self._sharing = sharing
            self._persistent_load = super().persistent_load
            super().__init__(importer, *args, **kwargs)

        @property
        def persistent_load(self):
            return self._persistent_load

        @persistent_load.setter
        def persistent_load(self, torchs_load):
            sharing = self._sharing
            self._persistent_load = sharing.wrapped(torchs_load) if sharing else torchs_load

    class Importer(PackageImporter):
        """One that several threads may use at once, as they may Python's own.

        torch's is for one thread: it hands out modules whose code still runs, and keeps what
        load_pickle() needs in variables of the importer.
        """

        def __init__(self, file):
            self._loading = _thread.RLock()
            self._executed = set()
            # Guarded by _loading:
            self._recipe = None  # of _multipy_sharing: what is loaded for all interpreters
            self._sharing = None  # the same for the load_pickle() that runs
            self._under_way = set()  # names
            super().__init__(file)
            self.Unpickler = self._unpickler
            prefix = self._mangler.parent_name()
            forget = weakref.finalize(self, _forget_lines, linecache.cache, prefix)
            forget.atexit = False

        @property
        def get_source(self):
            """linecache keeps this for each module, for ever: it does not keep the package."""
            return functools.partial(_source_of, weakref.ref(self))

        def source(self, name):
            return super().get_source(name)

        def _find_and_load(self, name):
            if name in self._executed:
                return super()._find_and_load(name)
            with self._loading:
                if name in self._under_way:  # modules that import each other
                    return super()._find_and_load(name)
                self._under_way.add(name)
                try:
                    module = super()._find_and_load(name)
                except BaseException:
                    self._forget(name)
                    raise
                finally:
                    self._under_way.discard(name)
                self._executed.add(name)
                return module

        def _forget(self, name):
            """What asks again for a module whose code has raised gets to see why."""
            module = self.modules.get(name)
            if module is None or module.__loader__ is not self:
                return
            del self.modules[name]
            _package_imported_modules.pop(module.__name__, None)
            parent, _, child = name.rpartition(".")
            if parent in self.modules:
                vars(self.modules[parent]).pop(child, None)

        def load_pickle(self, package, resource, map_location=None):
            with self._loading:
                sharing = self._recipe and self._recipe.begin(package, resource, map_location)
                # torch forgets the last two when a load that began within this one ends.
                outer = self._sharing, self.storage_context, self.last_map_location
                self._sharing = sharing
                try:
                    loaded = super().load_pickle(package, resource, map_location)
                finally:
                    self._sharing, self.storage_context, self.last_map_location = outer
                if sharing:
                    sharing.finish()
                return loaded

        def _unpickler(self, *args, **kwargs):
            return Unpickler(self._sharing, self, *args, **kwargs)

    return Importer


def _source_of(importer, name):
    """For tracebacks: of a module whose package may be gone."""
    package = importer()
    if package is None:
        raise ImportError(f"the package of {name} has been closed", name=name)
    return package.source(name)


def _forget_lines(cache, prefix):
    """Those of the modules of one package, which linecache keeps by their files' names."""
    for file in list(cache):
        if file.startswith(prefix):
            cache.pop(file, None)


def open_package(file, name):
    """A PackageImporter over one of the host's package files."""
    importer = _importer_class()(file)
    importer.filename = name
    return importer


def argument_names(function):
    import inspect

    return [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind is not p.VAR_POSITIONAL and p.kind is not p.VAR_KEYWORD
    ]
