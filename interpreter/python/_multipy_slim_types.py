"""Python code of others that goes by the types of objects, which are LazyModule and LazyName for what
modules that have not been executed hold (_multipy_lazy_modules.py, _multipy_lazy_names.py).

cloudpickle and dill      have a table of what pickles an object of which type. (pickle itself refuses modules.)
pydoc, unittest.mock      take a class that they are given to pieces with functions of `type`

Each is taught about them once it has been executed, in an interpreter where it is.
"""

import functools
import types

from _multipy_lazy_modules import LazyModule
from _multipy_lazy_names import real

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


def _complete_pydoc(module):
    resolve = module.resolve

    @functools.wraps(resolve)
    def resolve_real(thing, *others):
        return resolve(real(thing), *others)

    module.resolve = resolve_real


def _complete_mock(module):
    add_spec = module.NonCallableMock._mock_add_spec

    @functools.wraps(add_spec)
    def add_real_spec(self, spec, *others, **keywords):
        return add_spec(self, real(spec), *others, **keywords)

    module.NonCallableMock._mock_add_spec = add_real_spec


# Module -> what is called with it when it has been executed.
COMPLETED = {
    **{f"{package}.cloudpickle": _complete_cloudpickle for package in _CLOUDPICKLES},
    **{f"{package}.cloudpickle_fast": _complete_cloudpickle for package in _CLOUDPICKLES},
    "dill._dill": _complete_dill,
    "pydoc": _complete_pydoc,
    "unittest.mock": _complete_mock,
}
