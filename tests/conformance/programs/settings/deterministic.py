"""Deterministic algorithms: demanded, warned about, filled memory."""

import warnings

import torch
from showing import raised, show

print(torch.are_deterministic_algorithms_enabled(), torch.get_deterministic_debug_mode())
try:
    torch.use_deterministic_algorithms(True)
    print(torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled())
    show("filled", torch.empty(2))
    show("filled int", torch.empty(2, dtype=torch.int8))
    show("index_add", torch.zeros(3).index_add(0, torch.tensor([0, 0]), torch.ones(2)))
    show("put", torch.zeros(3).put_(torch.tensor([1, 1]), torch.tensor([1.0, 2.0]), accumulate=True))
    raised("put", torch.zeros(3).put_, torch.tensor([1, 1]), torch.tensor([1.0, 2.0]))
    torch.use_deterministic_algorithms(True, warn_only=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.zeros(3).put_(torch.tensor([1, 1]), torch.tensor([1.0, 2.0]))
    print([str(w.message).split(".")[0] for w in caught])
    torch.set_deterministic_debug_mode("warn")
    print(torch.get_deterministic_debug_mode())
    torch.utils.deterministic.fill_uninitialized_memory = False
    print(torch.utils.deterministic.fill_uninitialized_memory)
finally:
    torch.utils.deterministic.fill_uninitialized_memory = True
    torch.use_deterministic_algorithms(False)
raised("mode", torch.set_deterministic_debug_mode, "loud")
