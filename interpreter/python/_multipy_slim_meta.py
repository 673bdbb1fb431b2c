"""Kernels for meta tensors, while torch._meta_registrations has not been executed.

torch._meta_registrations is of the group "graphs" (_multipy_slim.py), whose execution takes more
than a second, and gives 700 operators Python kernels for the device meta. C++ has kernels for most
others, and for many of the 700 as well, with the same results. So what waits for a call
that executes the group are kernels of the operators that C++ has none for, or another
one. They are registered when the first meta tensor is made, of which there is none in most programs.

Threads: any, with the GIL. The lock is held while kernels are registered or removed, which executes
no Python code but this module's.
"""

import _thread
import functools
import sys

import _multipy_lazy_modules as lazy_modules

_NAMESPACES = frozenset(("aten", "c10d", "mkl", "mkldnn", "onednn", "quantized"))
# Where an operator has a kernel for meta tensors.
_KEYS = (
    "Meta",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
)
# They have one in C++, which raises (convolution), or whose results have other strides or another
# conjugate bit than those of torch._meta_registrations. tests/conformance/meta_kernels.py looks
# for more of them.
_OTHERS = (
    "aten::convolution",
    "aten::convolution_backward",
    "aten::_linalg_svd",
    "aten::linalg_lu_solve",
)
# By one of these the first meta tensor is made.
_FIRST = ("aten::empty.memory_format", "aten::empty_strided")


def operators():
    """Those whose calls wait."""
    torch_c = sys.modules["torch"]._C
    missing = [
        name
        for name in torch_c._dispatch_get_all_op_names()
        if name.partition("::")[0] in _NAMESPACES
        and not any(torch_c._dispatch_has_kernel_for_dispatch_key(name, key) for key in _KEYS)
    ]
    return (*missing, *_OTHERS)


class MetaKernels:
    def __init__(self):
        self._lock = _thread.RLock()
        self._waiting = _register(_FIRST, self._meet_one)
        self._has_met_one = False

    def remove(self):
        """When the group has been executed. While that is done, other threads' calls wait for it; and
        of several kernels of an operator the newest is called."""
        with self._lock:
            self._has_met_one = True
            self._replace_by([])

    def _meet_one(self):
        with self._lock:
            if self._has_met_one:
                return
            self._has_met_one = True
            self._replace_by(_register(operators(), self._execute_graphs))

    def _replace_by(self, libraries):
        for library in self._waiting:
            library.reset()
        self._waiting = libraries

    def _execute_graphs(self):
        lazy_modules.execute("graphs")
        if self._waiting:  # this thread is at it, or those that execute modules wait for each other
            raise NotImplementedError(
                "torch is registering its Python kernels for meta tensors, of which this call needs one: "
                "it can be made when the call that does so has returned"
            )


def _register(names, first):
    """Kernels that call `first`, and then what is there without them: `first` makes them go."""
    torch_c = sys.modules["torch"]._C
    libraries = {}
    for name in names:
        namespace = name.partition("::")[0]
        if namespace not in libraries:
            libraries[namespace] = torch_c._dispatch_library("IMPL", namespace, "", __file__, 0)
        libraries[namespace].impl(name, "Meta", functools.partial(_call, name, first), False)
    return list(libraries.values())


def _call(name, first, /, *arguments, **keywords):
    first()
    torch = sys.modules["torch"]
    namespace, _, name = name.partition("::")
    name, _, overload = name.partition(".")
    operator = getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")
    return operator.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.Meta), *arguments, **keywords)
