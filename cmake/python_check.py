"""Prints what the importlib of the Python that runs this lacks of what multipy's gates before
imports work with (interpreter/python/_multipy_gates.py), a line each; exit status 1 if anything.
"""
import inspect
import sys

import _frozen_importlib as importlib

NEEDED = {  # name -> parameters, if it is replaced or called
    "_calc___package__": ["globals"],
    "_resolve_name": ["name", "package", "level"],
    "_find_and_load": ["name", "import_"],
    "_find_and_load_unlocked": ["name", "import_"],
    "_lock_unlock_module": ["name"],
    "_get_module_lock": ["name"],
    "_DeadlockError": None,
    "_ModuleLock": None,
    "_ModuleLockManager": None,
    "_blocking_on": None,
}
OF_A_LOCK = ("acquire", "release", "has_deadlock")


def differences():
    for name, parameters in NEEDED.items():
        found = getattr(importlib, name, None)
        if found is None:
            yield f"there is no {name}"
        elif parameters is not None and list(inspect.signature(found).parameters) != parameters:
            yield f"{name}{inspect.signature(found)}, expected ({', '.join(parameters)})"
    for name in OF_A_LOCK:
        if not hasattr(getattr(importlib, "_ModuleLock", None), name):
            yield f"there is no _ModuleLock.{name}"
    lock = importlib._ModuleLock("a name")
    for name in ("lock", "wakeup", "owner"):
        if not hasattr(lock, name):
            yield f"a _ModuleLock has no {name}"


def main():
    found = list(differences())
    for line in found:
        print(line)
    sys.exit(bool(found))


main()
