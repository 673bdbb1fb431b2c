"""Pickles of a torch.package whose storages lie once for all interpreters.

Each interpreter loads the object with its own importer. Where torch's load_pickle() would read
a storage of the package, it is looked for among those that the host has (a SharedStorages of
package_pickles.cpp), and what had to be read is given to the host for the others.

Storages come two ways: the unpickler asks for them (persistent_load), and TorchScript modules
take them from the importer's storage_context, into which C++ code puts what it reads. Both
ways of one load lead to the same storages, as in torch.
"""

import collections

RECORDS = ".data/"
ENDING = ".storage"


def load_pickle(importer, package, resource, storages):
    """What the importer's load_pickle() gives. The caller has the importer's lock."""
    importer._recipe, outer = _Recipe(importer, storages), importer._recipe
    try:
        return importer.load_pickle(package, resource)
    except BaseException as error:
        where = f"{resource!r} of {package!r} from the package {importer.filename}"
        # As add_note() does, which CPython 3.10 has not got (failure.cpp shows them there).
        error.__notes__ = [*getattr(error, "__notes__", ()), f"while loading {where}"]
        raise
    finally:
        importer._recipe = outer


class _Recipe:
    """One load of an object, with the loads that its own code may begin meanwhile."""

    def __init__(self, importer, storages):
        self._importer = importer
        self._storages = storages
        self._begun = collections.Counter()

    def begin(self, package, resource, map_location):
        """-> what one load_pickle() shares with the same one in other interpreters, or None."""
        import torch

        if not (map_location is None or isinstance(map_location, (str, torch.device))):
            return None  # what a function of the user's does is not known
        name = f"{package}/{resource} on {map_location}"
        self._begun[name] += 1  # two loads of one pickle have nothing in common
        prefix = f"{name}, {self._begun[name]}: "
        return _Sharing(self._importer, self._storages, prefix, map_location)


class _Sharing:
    def __init__(self, importer, storages, prefix, map_location):
        self._importer = importer
        self._storages = storages
        self._prefix = prefix  # of the host's names
        self._map_location = map_location
        self._loaded = {}  # key in the package -> UntypedStorage
        self._context = None  # torch's storage_context, once a TorchScript module may need it

    def wrapped(self, torchs_load):
        """A persistent_load() in place of torch's."""

        def persistent_load(saved_id):
            kind = saved_id[0] if isinstance(saved_id, tuple) and saved_id else None
            if kind in ("storage", b"storage") and len(saved_id) == 5:
                return self._storage(saved_id, torchs_load)
            self._fill_context()
            return torchs_load(saved_id)

        return persistent_load

    def finish(self):
        """Gives the host what TorchScript modules have read."""
        if self._context is None:
            return
        import torch

        for record in self._importer.zip_reader.get_all_records():
            if not (record.startswith(RECORDS) and record.endswith(ENDING)):
                continue
            key = record[len(RECORDS) : -len(ENDING)]
            if key not in self._loaded and self._context.has_storage(key + ENDING):
                self._keep(key, self._context.get_storage(key + ENDING, torch.uint8))

    def _storage(self, saved_id, torchs_load):
        import torch

        _, storage_type, key, _, _ = saved_id
        key = str(key)
        dtype = _dtype_of(storage_type)
        storage = self._loaded.get(key)
        if storage is None:
            shared = self._storages.find(self._prefix + key)
            if shared is None:
                shared = self._read(key, saved_id, dtype, torchs_load)
            storage = self._add(key, shared)
        return torch.storage.TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)

    def _read(self, key, saved_id, dtype, torchs_load):
        import torch

        _, _, _, location, size = saved_id
        record = key + ENDING
        scripts_have_it = self._context is not None and self._context.has_storage(record)
        if self._map_location is not None or location not in ("cpu", b"cpu"):
            read = _bytes_of(torchs_load(saved_id)._untyped_storage)
        elif scripts_have_it:
            read = self._context.get_storage(record, torch.uint8)
        else:  # without a Python object of its own: it can outlive this interpreter
            read = self._importer.zip_reader.get_storage_from_record(RECORDS + record, size, dtype)
        kept = self._keep(key, read)
        return read if scripts_have_it and _address(read) == _address(kept) else kept

    def _keep(self, key, tensor):
        """-> a tensor over the bytes that all interpreters have."""
        return self._storages.keep(self._prefix + key, tensor)

    def _add(self, key, tensor):
        storage = self._loaded[key] = tensor.untyped_storage()
        # There are bytes as they were read in it, before they go to a device.
        if self._context is not None and storage.device.type == "cpu":
            if not self._context.has_storage(key + ENDING):
                self._context.add_storage(key + ENDING, tensor)
        return storage

    def _fill_context(self):
        if self._context is not None:
            return
        self._context = self._importer.storage_context
        for name in self._storages.names(self._prefix):
            key = name[len(self._prefix) :]
            storage = self._loaded.get(key)
            self._add(key, self._storages.find(name) if storage is None else _bytes_of(storage))


def _dtype_of(storage_type):
    import torch

    if storage_type is torch.UntypedStorage:
        return torch.uint8
    return getattr(storage_type, "_dtype", None) or storage_type.dtype  # the latter warns


def _bytes_of(storage):
    import torch

    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _address(tensor):
    return tensor.untyped_storage().data_ptr()
