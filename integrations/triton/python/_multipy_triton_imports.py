"""Modules that lie beside the model.py of models which share an interpreter.

Elsewhere their folders are at the end of sys.path. Here each model would find what lies beside others:
so none of the folders is in sys.path, and a module that is nowhere else is looked for beside the model
whose code imports it. It is one of that model's package (`helper` is `<model>_<version>.helper`). sys.modules
has it under its plain name, too, where pickle looks, until another model asks for that name.

Threads: any. No lock is held while anything is imported.
"""

import builtins
import importlib
import importlib.machinery
import importlib.util
import sys

_plain_import = builtins.__import__
_plain_import_module = importlib.import_module
_by_plain_name = {}  # the resident whose module sys.modules has under that name
_of_caller = None


def begin(of_caller):
    """From now on imports look beside models. `of_caller` tells the resident whose code calls."""
    global _of_caller
    if _of_caller is None:
        _of_caller = of_caller
        builtins.__import__ = _import
        importlib.import_module = _import_module


def forget(resident):
    """That has gone, and its modules."""
    for name, owner in list(_by_plain_name.items()):
        if owner is resident:
            _hide(name)


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    resident = _beside_whom(name) if level == 0 else None
    if resident is None:
        return _plain_import(name, globals, locals, fromlist, level)
    module = _import_beside(resident, name)
    if fromlist:
        return _plain_import(module.__name__, globals, locals, fromlist, 0)
    return sys.modules[resident.package + "." + name.partition(".")[0]]


def _import_module(name, package=None):
    resident = None if name.startswith(".") else _beside_whom(name)
    if resident is None:
        return _plain_import_module(name, package)
    return _import_beside(resident, name)


def _beside_whom(name):
    """The resident whose code imports it, where it lies beside that one and nowhere else."""
    top = name.partition(".")[0]
    owner = _by_plain_name.get(top)
    if owner is None and top in sys.modules:
        return None
    resident = _of_caller()
    if owner is not None:
        if owner is resident:
            return resident
        for each in [each for each in list(_by_plain_name) if each.partition(".")[0] == top]:
            _hide(each)
    if resident is None or not _lies_in(top, list(resident.places())):
        return None
    return resident if importlib.util.find_spec(top) is None else None


def _lies_in(top, places):
    return importlib.machinery.PathFinder.find_spec(top, places) is not None


def _import_beside(resident, name):
    module = _plain_import_module(resident.package + "." + name)
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        plain = ".".join(parts[:end])
        _by_plain_name[plain] = resident
        sys.modules[plain] = sys.modules[resident.package + "." + plain]
    return module


def _hide(name):
    if _by_plain_name.pop(name, None) is not None:
        sys.modules.pop(name, None)
