"""torch.distributions: samples, densities, transforms."""

import torch
from showing import raised, show
from torch import distributions as d

torch.manual_seed(31)
d.Distribution.set_default_validate_args(True)  # the first torch.compile of a Python turns it off for good
for distribution in (
    d.Normal(0.5, 2.0), d.Beta(2.0, 3.0), d.Categorical(torch.tensor([0.2, 0.8])), d.Gamma(2.0, 1.5),
    d.Dirichlet(torch.tensor([1.0, 2.0, 3.0])), d.Laplace(0.0, 1.0), d.StudentT(4.0), d.Poisson(3.0),
    d.MultivariateNormal(torch.zeros(2), torch.eye(2)), d.VonMises(torch.tensor(0.0), torch.tensor(4.0)),
    d.TransformedDistribution(d.Normal(0.0, 1.0), [d.ExpTransform()]),
):
    sample = distribution.sample((3,))
    show(type(distribution).__name__, sample)
    show("log_prob", distribution.log_prob(sample))
show("kl", d.kl_divergence(d.Normal(0.0, 1.0), d.Normal(1.0, 2.0)))
raised("arguments", d.Normal, 0.0, -1.0)
