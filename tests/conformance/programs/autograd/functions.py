"""autograd.Function: saved tensors, several outputs, non-differentiable ones."""

import torch
from showing import raised, show


class Polar(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, scale):
        radius, angle = (x**2 + y**2).sqrt(), torch.atan2(y, x)
        ctx.save_for_backward(x, y, radius)
        ctx.scale = scale
        quadrant = (angle / 1.5707964).floor().long()
        ctx.mark_non_differentiable(quadrant)
        ctx.set_materialize_grads(False)
        return radius * scale, angle, quadrant

    @staticmethod
    def backward(ctx, grad_radius, grad_angle, grad_quadrant):
        x, y, radius = ctx.saved_tensors
        print("gradients", grad_radius is None, grad_angle is None, ctx.needs_input_grad)
        gx = 0 if grad_radius is None else grad_radius * ctx.scale * x / radius
        gx = gx if grad_angle is None else gx - grad_angle * y / radius**2
        gy = 0 if grad_radius is None else grad_radius * ctx.scale * y / radius
        gy = gy if grad_angle is None else gy + grad_angle * x / radius**2
        return gx, gy, None


x = torch.tensor([3.0, -1.0], requires_grad=True)
y = torch.tensor([4.0, 1.0], requires_grad=True)
radius, angle, quadrant = Polar.apply(x, y, 2)
print(quadrant.tolist(), quadrant.requires_grad, type(radius.grad_fn).__name__)
radius.sum().backward(retain_graph=True)
show("radius", (x.grad, y.grad))
angle.sum().backward()
show("angle", (x.grad, y.grad))
print(torch.autograd.gradcheck(lambda a, b: Polar.apply(a, b, 2)[:2], (x.detach().double().requires_grad_(), y.detach().double().requires_grad_()), check_undefined_grad=False))


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


raised("count", Wrong.apply(x).sum().backward)
raised("not called", Wrong().forward, x, x, x)
