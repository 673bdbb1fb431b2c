"""The models of this interpreter: one, or several where the configuration names a pool of interpreters.

_multipy_triton_model admits and dismisses them. What differs between them is an attribute of each; whose
code it is that calls a function of pb_utils is read from the stack.
"""

import os
import re
import sys
import types

import _multipy_triton_imports as imports

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
        self.package = version if is_alone else _new_package(name, version)

    def places(self):
        """Where what it imports lies."""
        return self.folder, self.repository

    def make_importable(self):
        """What lies in its places; model.py as a module of its package."""
        if self.is_alone:
            sys.path += [place for place in self.places() if place not in sys.path]
        elif self.package not in sys.modules:
            package = types.ModuleType(self.package)
            package.__path__ = list(self.places())
            sys.modules[self.package] = package
            imports.begin(of_caller)

    def modules(self):
        """Names of its own modules, where it is not alone."""
        inside = self.package + "."
        return [name for name in list(sys.modules) if name == self.package or name.startswith(inside)]

    def forget(self):
        """Undoes make_importable(), and what it has imported since, where it is not alone."""
        imports.forget(self)
        for name in self.modules():
            sys.modules.pop(name, None)
        for place in self.places():
            sys.path_importer_cache.pop(place, None)


def _new_package(name, version):
    """A name that no other model's has: `a-b` and `a_b` would have the same one."""
    package = re.sub(r"\W", "_", name) + "_" + version
    others = {each.package for each in _residents.values()}
    while package in others or package in sys.modules:
        package += "_"
    return package


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
