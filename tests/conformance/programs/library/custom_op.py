"""custom_op with fake, autograd, vmap and device kernels."""

import numpy
import torch
from showing import raised, show
from torch import Tensor


@torch.library.custom_op("conformance_custom::numpy_cube", mutates_args=())
def numpy_cube(x: Tensor) -> tuple[Tensor, Tensor]:
    array = x.detach().numpy()
    return torch.from_numpy(array**3), torch.from_numpy(3 * array**2)


@numpy_cube.register_fake
def _(x):
    return torch.empty_like(x), torch.empty_like(x)


def setup_context(ctx, inputs, output):
    ctx.save_for_backward(inputs[0], output[1])


def backward(ctx, grad, grad_derivative):
    x, derivative = ctx.saved_tensors
    return grad * derivative + 6 * grad_derivative * x


numpy_cube.register_autograd(backward, setup_context=setup_context)
numpy_cube.register_vmap(lambda info, in_dims, x: (numpy_cube(x), in_dims[0:1] * 2))

x = torch.tensor([1.0, 2.0], requires_grad=True)
show("result", numpy_cube(x))
show("grad", torch.autograd.grad(numpy_cube(x)[0].sum(), x))
show("vmap", torch.vmap(numpy_cube)(torch.arange(4.0).reshape(2, 2)))
show("fake", numpy_cube(torch.ones(3, device="meta")))
print(numpy_cube._opoverload._schema)
numpy_cube.register_kernel("cpu")(lambda x: (x * 0, x * 0))
show("another kernel", numpy_cube(x))
with numpy_cube.set_kernel_enabled("cpu", False):
    show("disabled", numpy_cube(x))
torch.library.opcheck(numpy_cube, (torch.ones(2),), test_utils=("test_schema", "test_faketensor"))
raised("type", numpy_cube, 3)


@torch.library.custom_op("conformance_custom::add_into", mutates_args={"x"})
def add_into(x: Tensor, n: int = 1) -> None:
    numpy.add(x.numpy(), n, out=x.numpy())


y = torch.zeros(2)
add_into(y, 4)
show("mutated", y)
print(y._version)
raised("alias", torch.library.custom_op("conformance_custom::alias", lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor"), torch.ones(1))
