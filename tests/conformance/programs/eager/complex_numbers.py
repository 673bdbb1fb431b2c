"""Complex dtypes, conjugate views and their lazily resolved bits."""

import torch
from showing import show

z = torch.tensor([1 + 2j, -0.5j, 3 - 1j])
show("z", z)
show("conj", z.conj())
show("conj twice", z.conj().conj())
show("real part of a product", (z * z.conj()).real)
show("imag of conj", z.conj().imag)
show("angle", z.angle())
show("view_as_real", torch.view_as_real(z))
show("polar", torch.polar(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 1.5])))
show("matmul", z.reshape(1, 3).conj() @ z.reshape(3, 1))
show("promotion", torch.tensor([1, 2]) + 1j)
show("complex128", z.to(torch.complex128) / 3)
show("chalf", z.to(torch.complex32).to(torch.complex64))
