"""Schemas from annotations, and what cannot be in one."""

import typing

import torch
from showing import raised

infer = torch.library.infer_schema


def f(x: torch.Tensor, n: int, s: typing.Optional[float] = None, *, names: typing.Sequence[int]) -> list[torch.Tensor]:
    pass


print(infer(f, mutates_args=()))
print(infer(f, mutates_args={"x"}, op_name="conformance::f"))
print(infer(f, mutates_args="unknown"))
raised("no annotation", infer, lambda x: x, mutates_args=())


def g(x: dict) -> torch.Tensor:
    pass


raised("type", infer, g, mutates_args=())
raised("mutated", infer, f, mutates_args={"nothing"})
schema = torch._C.parse_schema("ns::op.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
print(schema, schema.is_mutable, [(a.name, str(a.type), a.kwarg_only, a.is_out) for a in schema.arguments])
raised("parse", torch._C.parse_schema, "op(Tensor self")
