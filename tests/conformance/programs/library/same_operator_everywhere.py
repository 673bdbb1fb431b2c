"""One operator that every interpreter defines, uses for long and drops, whatever the others do."""

import os
import random

import torch

rounds = random.Random(os.urandom(8)).randint(3, 8)  # so that interpreters get out of step
for attempt in range(rounds):
    factor = float(random.randint(2, 1000))
    lib = torch.library.Library("conformance_everywhere", "FRAGMENT")
    lib.define("times(Tensor x) -> Tensor")
    lib.impl("times", lambda x: x * factor, "CPU")
    lib.impl("times", lambda x: x.new_empty(x.shape), "Meta")
    times = torch.ops.conformance_everywhere.times
    for step in range(300):
        got = times(torch.ones(3))
        assert torch.equal(got, torch.full((3,), factor)), f"{got} instead of {factor}: another interpreter's kernel"
    assert times(torch.ones(2, device="meta")).shape == (2,)
    lib._destroy()
    try:
        torch.ops.conformance_everywhere.times(torch.ones(1))
    except (AttributeError, RuntimeError, NotImplementedError):
        pass
    else:
        raise AssertionError("a dropped operator still runs")
print("own kernel, always")
