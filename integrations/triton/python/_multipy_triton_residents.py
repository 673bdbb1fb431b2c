"""The models of this interpreter: one, or several where the configuration names a pool of interpreters.

_multipy_triton_model admits and dismisses them. What differs between them is an attribute of each; whose
code it is that calls a function of pb_utils is read from the stack.
"""

import os
import re
import sys
import types

_residents = {}  # by key


class Resident:
    """One model.py, from before it is imported."""

    def __init__(self, key, repository, version, name, is_alone, asker):
        self.key = key
        self.repository = repository
        self.folder = os.path.join(repository, version)
        self.is_alone = is_alone
        self.asker = asker  # its requests to other models
        self.iterates = False  # whether its requests can be rescheduled
        # Where others are, versions and names of modules are not enough to tell them apart.
        self.package = version if is_alone else re.sub(r"\W", "_", name) + "_" + version

    def places(self):
        """Where what it imports lies."""
        return self.folder, self.repository

    def make_importable(self, file):
        """What lies in its places; its model.py, which is the `file`, as a module of its package."""
        for place in self.places():
            if place not in sys.path:
                sys.path.append(place)
        if not self.is_alone and self.package not in sys.modules:
            package = types.ModuleType(self.package)
            package.__path__ = [self.folder]
            sys.modules[self.package] = package
            _ModelFiles.names.add(file.removesuffix(".py"))
            if _ModelFiles not in sys.meta_path:
                sys.meta_path.insert(0, _ModelFiles)

    def modules(self):
        """Names of its own modules: those in its package, and those that lie in its folders."""
        below = tuple(place + os.sep for place in self.places())
        inside = self.package + "."
        return [
            name
            for name, module in list(sys.modules.items())
            if name == self.package
            or name.startswith(inside)
            or _file_of(module).startswith(below)
        ]

    def forget(self):
        """Undoes make_importable() and what it has imported since. (No other resident has a module
        of the same name: interpreter_pools.cpp sees to that.)"""
        for name in self.modules():
            sys.modules.pop(name, None)
        used = {place for each in _residents.values() for place in each.places()}
        for place in self.places():
            if place not in used and place in sys.path:
                sys.path.remove(place)
            sys.path_importer_cache.pop(place, None)


class _ModelFiles:
    """Where there are several models, `import model` would find any one's model.py: it is refused."""

    names = set()

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if path is None and name in cls.names:
            resident = of_caller()
            own = "<package>" if resident is None else resident.package
            raise ImportError(
                f"several models of this interpreter have a {name}.py; import {own}.{name}", name=name
            )


def _file_of(module):
    file = getattr(module, "__dict__", {}).get("__file__")  # (a lazy module would be executed)
    return file if isinstance(file, str) else ""


def admit(resident):
    _residents[resident.key] = resident


def dismiss(key):
    _residents.pop(key, None)


def of_key(key):
    """None if there is none such."""
    return _residents.get(key)


def keys():
    return tuple(_residents)


def of_caller():
    """The one whose code calls: the nearest function on the stack that lies in a model's folder. None
    if it is not to be told."""
    residents = list(_residents.values())
    if len(residents) == 1:
        return residents[0]
    # (Versions of one model have what lies in its repository in common.)
    for place in ("folder", "repository"):
        frame = sys._getframe(1)
        while frame is not None:
            for each in residents:
                if frame.f_code.co_filename.startswith(getattr(each, place) + os.sep):
                    return each
            frame = frame.f_back
    return None
