"""Cases from ModuleInfo: each module of torch.nn, forward and backward."""

import functools

import torch
from torch.testing._internal.common_modules import ModuleErrorEnum, module_db
from torch.utils._pytree import tree_leaves

from opinfo.operators import fixed_like
from opinfo.values import describe


class Module:
    def __init__(self, info, dtype, device, training):
        self.info = info
        self.dtype = dtype
        self.device = device
        self.training = training
        self.name = f"{info.name} {str(dtype).removeprefix('torch.')} {'train' if training else 'eval'}"

    def cases(self):
        inputs = self.info.module_inputs_func(
            self.info, device=self.device, dtype=self.dtype, requires_grad=True, training=self.training
        )
        for number, sample in enumerate(inputs):
            module = self.make(sample)
            yield f"call {number}", functools.partial(self.call, module, sample.forward_input)
        if self.info.module_error_inputs_func:
            wrong = self.info.module_error_inputs_func(
                self.info, device=self.device, dtype=self.dtype, requires_grad=True, training=self.training
            )
            for number, error in enumerate(wrong):
                yield f"error {number}", functools.partial(self.error, error)

    def make(self, sample):
        arguments = sample.constructor_input
        module = self.info.module_cls(*arguments.args, **arguments.kwargs)
        return module.to(self.device, self.dtype).train(self.training)

    def call(self, module, arguments):
        made = describe(module)
        result = module(*arguments.args, **arguments.kwargs)
        outputs = _requiring_grad(result)
        inputs = _requiring_grad([arguments.args, arguments.kwargs, list(module.parameters())])
        gradients = None
        if outputs and inputs:
            cotangents = [fixed_like(output) for output in outputs]
            gradients = torch.autograd.grad(outputs, inputs, cotangents, allow_unused=True)
        return describe([made, result, gradients, module.state_dict()])

    def error(self, error):
        module = self.make(error.module_error_input)
        if error.error_on is ModuleErrorEnum.CONSTRUCTION_ERROR:
            return "no error: " + describe(module)
        arguments = error.module_error_input.forward_input
        return "no error: " + describe(module(*arguments.args, **arguments.kwargs))


def _requiring_grad(tree):
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]


def subjects(dtypes, device):
    return [
        Module(info, dtype, device, training)
        for info in module_db
        for dtype in dtypes
        if dtype in info.supported_dtypes(torch.device(device).type)
        for training in (True, False)
    ]
