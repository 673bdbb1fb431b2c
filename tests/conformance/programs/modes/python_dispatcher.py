"""Python implementations of aten operators, for as long as one likes."""

import torch
from showing import show

lib = torch.library.Library("aten", "IMPL")
lib.impl("special_entr", lambda x: torch.full_like(x, -1), "CPU")
try:
    show("replaced", torch.special.entr(torch.ones(2)))
    show("others", torch.special.erf(torch.ones(2)))
finally:
    lib._destroy()
show("original", torch.special.entr(torch.tensor([0.5, 1.0])))
