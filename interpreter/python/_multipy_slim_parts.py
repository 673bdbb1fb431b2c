"""Modules that plain Python's start of torch imports, found in their packages as after that.

    import torch, urllib
    urllib.request          there in plain Python, since torch.hub imports it

Here torch.hub waits to be executed, so such a package gets a __getattr__ (PEP 562) that imports the module
when the package is asked for it. Nothing is done for packages that are not imported.
"""

import functools
from importlib import import_module

from _multipy_lazy_names import names_of

# Those that the execution of the package itself does not import.
_PARTS = {
    "email": """_encoded_words _parseaddr _policybase base64mime charset encoders errors feedparser
        header iterators message parser quoprimime utils""",
    "http": "client",
    "torch.distributed": "algorithms utils",
    "torch.distributed.algorithms": "join",
    "torch.testing": "_internal",
    "torch.testing._internal": "common_dtype logging_tensor",
    "unittest": "mock",
    "urllib": "error request response",
}


class _Parts:
    """The __getattr__ of a package."""

    def __init__(self, package, parts):
        self._package = package
        self._parts = parts
        self._others = names_of(package).get("__getattr__")

    def __call__(self, name):
        package = names_of(self._package)["__name__"]
        if name in self._parts:
            return import_module(f"{package}.{name}")
        if self._others is not None:
            return self._others(name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=self._package)


def _give_parts(parts, package):
    names_of(package)["__getattr__"] = _Parts(package, parts)


# Module -> what is called with it when it has been executed.
COMPLETED = {package: functools.partial(_give_parts, frozenset(parts.split())) for package, parts in _PARTS.items()}
