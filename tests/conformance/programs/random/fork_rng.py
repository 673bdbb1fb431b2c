"""Saving and restoring the default generator."""

import torch
from showing import show

torch.manual_seed(5)
show("before", torch.rand(2))
with torch.random.fork_rng():
    torch.manual_seed(6)
    show("inside", torch.rand(2))
show("after", torch.rand(2))
state = torch.get_rng_state()
show("drawn", torch.randn(3))
torch.set_rng_state(state)
show("drawn again", torch.randn(3))
print(torch.default_generator.initial_seed(), torch.random.initial_seed())
torch.default_generator.manual_seed(9)
show("by object", torch.rand(2))
print(torch.seed() == torch.initial_seed())
