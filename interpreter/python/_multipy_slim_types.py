"""Python code of others that goes by the types of objects, which is LazyModule for a module that has
not been executed (_multipy_lazy_modules.py).

cloudpickle and dill      have a table of what pickles an object of which type. (pickle itself refuses modules.)

Each is taught about them once it has been executed, in an interpreter where it is.
"""

import types

from _multipy_lazy_modules import LazyModule

_CLOUDPICKLES = ("cloudpickle", "joblib.externals.cloudpickle", "pyspark.cloudpickle", "ray.cloudpickle")


def _pickle_lazy_modules(table):
    """As other modules: by name, which executes nothing."""
    table[LazyModule] = table[types.ModuleType]


def _complete_cloudpickle(module):
    # Up to cloudpickle 2 the class is in cloudpickle_fast.
    if hasattr(module, "CloudPickler"):
        _pickle_lazy_modules(module.CloudPickler._dispatch_table)


def _complete_dill(module):
    _pickle_lazy_modules(module.Pickler.dispatch)


# Module -> what is called with it when it has been executed.
COMPLETED = {
    **{f"{package}.cloudpickle": _complete_cloudpickle for package in _CLOUDPICKLES},
    **{f"{package}.cloudpickle_fast": _complete_cloudpickle for package in _CLOUDPICKLES},
    "dill._dill": _complete_dill,
}
