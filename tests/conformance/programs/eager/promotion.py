"""Result types of mixed operands."""

import itertools

import torch
from showing import raised

kinds = [torch.bool, torch.uint8, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.complex64]
for a, b in itertools.combinations_with_replacement(kinds, 2):
    print(a, b, torch.promote_types(a, b), (torch.ones(1, dtype=a) + torch.ones(1, dtype=b)).dtype)
for a in kinds:
    for scalar in True, 2, 2.5, 1j:
        print(a, scalar, torch.result_type(torch.ones(1, dtype=a), scalar))
raised("in place", lambda: torch.ones(2, dtype=torch.int64).add_(0.5))
print(torch.can_cast(torch.float32, torch.int32), torch.can_cast(torch.int32, torch.float16))
