"""Every operator that draws from the default generator."""

import torch
import torch.nn.functional as F
from showing import show

torch.manual_seed(7)
x = torch.full((10,), 0.3)
for name, arguments in {
    "bernoulli_": (), "cauchy_": (), "exponential_": (2.0,), "geometric_": (0.4,), "log_normal_": (),
    "normal_": (1.0, 2.0), "random_": (), "uniform_": (-1, 1),
}.items():
    show(name, getattr(x.clone(), name)(*arguments))
show("bernoulli", x.bernoulli())
show("multinomial", torch.multinomial(torch.tensor([0.1, 0.2, 0.7]), 10, replacement=True))
show("poisson", torch.poisson(x * 20))
show("binomial", torch.binomial(torch.full((4,), 9.0), torch.full((4,), 0.5)))
show("dropout", F.dropout(x))
show("rrelu", F.rrelu(-x, training=True))
show("gumbel", F.gumbel_softmax(x))
show("gamma", torch._standard_gamma(x * 5))
show("dirichlet", torch._sample_dirichlet(x))
show("alpha", F.alpha_dropout(x, training=True))
show("next", torch.rand(1))
