"""Cases from OpInfo: what torch.testing._internal says about each operator.

A sample is run in several ways. `call` is the operator with its gradients, for
each sample. The others are done with the first few samples of an operator:

    method, in-place, out   the operator's other spellings
    forward                 forward-mode derivatives
    dispatched              which ATen operators run, seen by a __torch_dispatch__ mode
    fake                    the same without elements: through the meta kernels,
                            a good part of which are Python, registered per interpreter
    error                   OpInfo's samples of wrong use, with their messages
"""

import functools
import itertools

import torch
from torch.autograd import forward_ad
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map_only, tree_unflatten

from opinfo.values import describe

FEW = 10


class Operator:
    def __init__(self, info, dtype, device):
        self.info = info
        self.dtype = dtype
        self.device = device
        variant = f".{info.variant_test_name}" if info.variant_test_name else ""
        self.name = f"{info.name}{variant} {str(dtype).removeprefix('torch.')}"
        self.differentiable = info.supports_autograd and dtype in info.supported_backward_dtypes(_kind(device))

    def samples(self):
        return list(self.info.sample_inputs(self.device, self.dtype, requires_grad=self.differentiable))

    def cases(self):
        samples = self.samples()
        for number, sample in enumerate(samples):
            yield f"call {number}", functools.partial(self.call, sample)
        for number, sample in enumerate(samples[:FEW]):
            for name, way in self.ways():
                yield f"{name} {number}", functools.partial(way, sample)
        if self.info.error_inputs_func and self.dtype == _first_dtype(self.info, self.device):
            for number, wrong in enumerate(self.info.error_inputs(self.device)):
                yield f"error {number}", functools.partial(self.result, self.info.get_op(), wrong.sample_input)

    def ways(self):
        if self.info.get_method():
            yield "method", functools.partial(self.result, self.info.get_method())
        if self.info.get_inplace():
            yield "in-place", self.in_place
        if self.info.supports_out:
            yield "out", self.out
        if self.info.supports_forward_ad and self.differentiable:
            yield "forward", self.forward
        yield "dispatched", self.dispatched
        yield "fake", self.fake

    # --- ways

    def result(self, function, sample):
        return describe(function(sample.input, *sample.args, **sample.kwargs))

    def call(self, sample):
        result = self.info.get_op()(sample.input, *sample.args, **sample.kwargs)
        text = describe(result)
        if not self.differentiable:
            return text
        outputs = [
            leaf for leaf in _tensors(sample.output_process_fn_grad(result)) if leaf.requires_grad
        ]
        inputs = [leaf for leaf in _tensors(_arguments(sample)) if leaf.requires_grad]
        if not outputs or not inputs:
            return text
        gradients = torch.autograd.grad(
            outputs, inputs, [fixed_like(output) for output in outputs], allow_unused=True
        )
        return f"{text} gradients {describe(gradients)}"

    def in_place(self, sample):
        first, args, kwargs = tree_map_only(torch.Tensor, lambda t: t.detach().clone(), _arguments(sample))
        return describe([self.info.get_inplace()(first, *args, **kwargs), first])

    def out(self, sample):
        first, args, kwargs = tree_map_only(torch.Tensor, torch.Tensor.detach, _arguments(sample))
        operator = self.info.get_op()
        out = tree_map_only(torch.Tensor, _transposed_ones, operator(first, *args, **kwargs))
        return describe([operator(first, *args, **kwargs, out=out), out])

    def forward(self, sample):
        with forward_ad.dual_level():
            dual = tree_map_only(
                torch.Tensor,
                lambda t: forward_ad.make_dual(t.detach(), fixed_like(t)) if t.requires_grad else t,
                _arguments(sample),
            )
            result = self.info.get_op()(dual[0], *dual[1], **dual[2])
            return describe([tuple(forward_ad.unpack_dual(leaf)) for leaf in _tensors(result)])

    def dispatched(self, sample):
        with Dispatched() as seen:
            self.info.get_op()(sample.input, *sample.args, **sample.kwargs)
        return " ".join(seen.names)

    def fake(self, sample):
        with torch._subclasses.FakeTensorMode() as mode:
            arguments, shape = tree_flatten(_arguments(sample))
            made = [mode.from_tensor(leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in arguments]
            first, args, kwargs = tree_unflatten(made, shape)
            return describe(self.info.get_op()(first, *args, **kwargs))


class Dispatched(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(str(function))
        return function(*args, **(kwargs or {}))


def _arguments(sample):
    return (sample.input, sample.args, sample.kwargs)


def _tensors(tree):
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def fixed_like(tensor):
    """The same elements each time, no two neighbours alike."""
    elements = (torch.arange(tensor.numel()) % 7 + 1).to(tensor.dtype) / 4
    elements = elements.to(tensor.device)
    if tensor.layout == torch.strided:
        return elements.reshape(tensor.shape)
    return torch.ones_like(tensor.detach())


def _transposed_ones(tensor):
    """Somewhere to write to that is not as the operator itself would make it."""
    ones = torch.ones_like(tensor)
    return ones.mT.contiguous().mT if ones.dim() > 1 else ones


def _kind(device):
    return torch.device(device).type


def _first_dtype(info, device):
    """What a single dtype of this operator is to be: float32 if it can."""
    preferred = [torch.float32, torch.complex64, torch.int64, torch.bool]
    supported = sorted(info.supported_dtypes(_kind(device)), key=str)
    return next(dtype for dtype in itertools.chain(preferred, supported) if dtype in supported)


def subjects(dtypes, device):
    """Each operator with each of `dtypes` that it supports, or else with one that it does."""
    found = []
    for info in op_db:
        supported = info.supported_dtypes(_kind(device))
        if not supported:
            continue  # for other devices
        of_these = [dtype for dtype in dtypes if dtype in supported]
        found += [Operator(info, dtype, device) for dtype in of_these or [_first_dtype(info, device)]]
    return found
