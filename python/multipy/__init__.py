"""The Python side of multipy: where its C++ library lies, and tools for packages.

    cmake -DCMAKE_PREFIX_PATH="$(python -m multipy --cmake-prefix-path)" ...

`cmake_prefix_path` is there if the C++ library has been installed too (`pip install
--config-settings=wheel.cmake=false` installs the tools alone).
"""

import importlib
import os

__all__ = ["Future", "InterpreterPoolExecutor", "Interrupted", "Pool", "QueueFull", "dataloader_context"]


class Interrupted(BaseException):
    """Raised in a call that a program interrupts (docs/operations.md).

    Nothing raises this one: an interpreter of multipy's has its own under this name. It is here so
    that modules which catch it can be imported, tested and packaged in any Python.
    """


def _prefix() -> str:
    # An editable installation has its compiled part in another folder than its modules.
    for folder in __path__:
        if os.path.isfile(os.path.join(folder, "lib", "cmake", "multipy", "multipyConfig.cmake")):
            return folder
    raise AttributeError(
        "multipy is installed without its C++ library: no lib/cmake/multipy/multipyConfig.cmake "
        f"in {' or '.join(__path__)}. Install it without wheel.cmake=false.")


# From which module what is looked up in this one, at the first use of it.
_LATER = {
    "Future": "multipy._executor",
    "InterpreterPoolExecutor": "multipy._executor",
    "Pool": "multipy._pool",
    "QueueFull": "multipy._pool",
    "dataloader_context": "multipy._dataloader",
}


def __getattr__(name: str):
    if name in _LATER:
        globals()[name] = found = getattr(importlib.import_module(_LATER[name]), name)
        return found
    if name == "__version__":
        from importlib import metadata

        return metadata.version("multipy")
    if name == "cmake_prefix_path":  # for CMAKE_PREFIX_PATH
        return _prefix()
    raise AttributeError(f"module 'multipy' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})
