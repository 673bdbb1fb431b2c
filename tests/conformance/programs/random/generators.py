"""Generators of one's own, their states and clones."""

import torch
from showing import raised, show

g = torch.Generator().manual_seed(11)
show("rand", torch.rand(3, generator=g))
state = g.get_state()
show("next", torch.randn(3, generator=g))
g.set_state(state)
show("again", torch.randn(3, generator=g))
other = torch.Generator()
other.set_state(state)
show("other", torch.randn(3, generator=other))
show("clone", torch.randn(2, generator=g.clone_state()) if hasattr(g, "clone_state") else g.device)
show("state", g.get_state())
print(g.initial_seed(), g.device)
torch.manual_seed(3)
first = torch.rand(2)
torch.rand(5, generator=g)
torch.manual_seed(3)
print(torch.equal(first, torch.rand(2)))
raised("bad state", g.set_state, torch.zeros(3, dtype=torch.uint8))
raised("device", lambda: torch.rand(1, device="meta", generator=g).tolist())
