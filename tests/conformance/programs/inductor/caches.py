"""inductor's caches on disk: a second compilation is a hit, code is written to the folder."""

import torch
from torch._dynamo.utils import counters

f = lambda x: (x.sin() * 7 + x.cos()).sum(0) + 0.625
results = []
for attempt in range(2):
    torch._dynamo.reset()
    counters.clear()
    results.append(torch.compile(f)(torch.arange(12.0).reshape(3, 4)))
    hit, miss = (counters["inductor"][f"fxgraph_cache_{what}"] for what in ("hit", "miss"))
    print(hit + miss, hit == 1 if attempt else "either")
print(torch.equal(*results), torch.allclose(results[0], f(torch.arange(12.0).reshape(3, 4)), atol=1e-5))
