"""Cases from OptimizerInfo: each optimizer in all of its implementations
(for-loop, foreach, fused, differentiable), some steps of each, and with the
learning rate schedulers that OptimizerInfo lists."""

import functools

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.testing._internal.common_optimizers import (
    OptimizerErrorEnum,
    _get_optim_inputs_including_global_cliquey_kwargs,
    optim_db,
)

from opinfo.values import describe

STEPS = 4
SHAPES = [(3, 4), (4, 2), (1, 5)]  # matrices: Muon takes nothing else


class Optimizer:
    def __init__(self, info, dtype, device):
        self.info = info
        self.dtype = dtype
        self.device = device
        self.name = f"{info.name} {str(dtype).removeprefix('torch.')}"

    def cases(self):
        for number, sample in enumerate(_get_optim_inputs_including_global_cliquey_kwargs(self.device, self.dtype, self.info)):
            yield f"steps {number} {sample.desc} {sorted(sample.kwargs)}", self.steps(sample.kwargs)
        for number, make in enumerate(self.info.scheduler_inputs):
            yield f"schedulers {number}", self.steps({}, make)
        if self.info.supports_sparse or self.info.only_supports_sparse_grads:
            kwargs, schedulers = self.info.metadata_for_sparse
            yield "sparse", self.steps(kwargs, sparse=True)
            for number, make in enumerate(schedulers):
                yield f"sparse scheduler {number}", self.steps(kwargs, [make], sparse=True)
        if self.info.optim_error_inputs_func:
            wrong = self.info.optim_error_inputs_func(device=self.device, dtype=self.dtype)
            for number, error in enumerate(wrong):
                yield f"error {number}", functools.partial(self.error, error)

    def steps(self, kwargs, schedulers=(), sparse=False):
        """A case, with its parameters and gradients drawn already."""
        parameters = [torch.randn(shape, dtype=self.dtype, device=self.device, requires_grad=True) for shape in SHAPES]
        gradients = [[torch.randn(shape, dtype=self.dtype, device=self.device) for shape in SHAPES] for _ in range(STEPS)]
        sparse = sparse or self.info.only_supports_sparse_grads
        if sparse:
            gradients = [[gradient.to_sparse() for gradient in step] for step in gradients]
        return functools.partial(self.run, parameters, gradients, dict(kwargs), schedulers)

    def run(self, parameters, gradients, kwargs, schedulers):
        if kwargs.get("differentiable"):
            parameters = [parameter.clone() for parameter in parameters]
        optimizer = self.info.optim_cls(parameters, **kwargs)
        made = [make(optimizer) for make in schedulers]
        seen = []
        for step in gradients:
            loss = optimizer.step(self.closure(optimizer, parameters, step))
            for scheduler in made:
                scheduler.step(*([loss] if isinstance(scheduler, ReduceLROnPlateau) else []))
            rates = [group["lr"] for group in optimizer.param_groups]
            seen.append([loss, parameters, rates])
        return describe([seen, optimizer.state_dict()])

    def closure(self, optimizer, parameters, gradients):
        def evaluate():
            optimizer.zero_grad()
            for parameter, gradient in zip(parameters, gradients):
                parameter.grad = gradient.clone()
                if self.info.step_requires_closure:  # LBFGS searches: a loss that has a minimum
                    parameter.grad += parameter.detach()
            with torch.no_grad():
                return sum((p.abs() ** 2 / 2).sum() + (p * g.to_dense()).sum().real for p, g in zip(parameters, gradients))

        return evaluate

    def error(self, error):
        sample = error.optimizer_error_input
        parameters = sample.params
        if parameters is None:
            parameters = [torch.nn.Parameter(torch.ones(3, 4, dtype=self.dtype, device=self.device))]
        optimizer = self.info.optim_cls(parameters, **sample.kwargs)
        if error.error_on is OptimizerErrorEnum.CONSTRUCTION_ERROR:
            return "no error: " + type(optimizer).__name__
        return describe(optimizer.step())


def subjects(dtypes, device):
    return [
        Optimizer(info, dtype, device)
        for info in optim_db
        for dtype in dtypes
        if dtype.is_floating_point or (dtype.is_complex and info.supports_complex)
    ]
