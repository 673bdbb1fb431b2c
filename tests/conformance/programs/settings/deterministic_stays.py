"""Determinism as this program set it, over many operations."""

import torch

for wanted in True, False, True, False:
    torch.use_deterministic_algorithms(wanted)
    try:
        for step in range(300):
            assert torch.are_deterministic_algorithms_enabled() is wanted, f"changed in step {step}"
            torch.ones(50).cumsum(0)
            x = torch.zeros(3)
            try:
                x.put_(torch.tensor([1]), torch.tensor([1.0]))
                assert not wanted, f"not refused in step {step}"
            except RuntimeError:
                assert wanted, f"refused in step {step}"
    finally:
        torch.use_deterministic_algorithms(False)
print("as set")
