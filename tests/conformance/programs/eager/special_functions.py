"""Special functions at some points."""

import torch
from showing import show

x = torch.tensor([0.1, 0.5, 1.0, 2.5, 7.0], dtype=torch.float64)
for name in (
    "airy_ai bessel_j0 bessel_y1 digamma entr erf erfcx erfinv exp2 expit gammaln i0e i1 log_ndtr logit "
    "modified_bessel_k0 ndtri psi sinc spherical_bessel_j0 xlog1py zeta chebyshev_polynomial_t hermite_polynomial_h"
).split():
    function = getattr(torch.special, name)
    twice = name in ("xlog1py", "zeta") or "polynomial" in name
    show(name, function(x, torch.full_like(x, 2.0)) if twice else function(x))
show("polygamma", torch.special.polygamma(2, x))
show("multigammaln", torch.special.multigammaln(x + 3, 2))
