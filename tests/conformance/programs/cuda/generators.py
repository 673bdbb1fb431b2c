"""Random numbers of a GPU: seeds, states, forks of them; those of others are not heard."""

import torch
from showing import show

torch.manual_seed(7)
show("seeded", torch.rand(5, device="cuda"))
show("more", torch.randn(3, device="cuda"))
torch.cuda.manual_seed(3)
state = torch.cuda.get_rng_state()
show("permuted", torch.randperm(9, device="cuda"))
with torch.random.fork_rng(devices=[0]):
    torch.cuda.manual_seed(100)
    show("forked", torch.rand(2, device="cuda"))
torch.cuda.set_rng_state(state)
show("again", torch.randperm(9, device="cuda"))
own = torch.Generator(device="cuda").manual_seed(5)
show("of its own", torch.randint(100, (4,), device="cuda", generator=own))
print(torch.cuda.initial_seed(), torch.cuda.default_generators[0].device)
show("dropped", torch.nn.functional.dropout(torch.ones(16, device="cuda")))
torch.manual_seed(1)
for _ in range(200):
    torch.rand(100, device="cuda")
show("after many", torch.rand(3, device="cuda"))
