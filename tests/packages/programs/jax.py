import jax
import jax.numpy as jnp


@jax.jit
def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w) ** 2)


w, x = jnp.ones((4, 2)), jnp.arange(12.0).reshape(3, 4) / 10
print(loss(w, x), jax.grad(loss)(w, x), jax.vmap(lambda v: v @ w)(x).shape)
print(jax.random.normal(jax.random.key(0), (3,)), jax.lax.scan(lambda c, v: (c + v, c), 0.0, jnp.arange(5.0))[0])
print(jax.jit(lambda v: jax.pure_callback(lambda a: a * 2, v, v))(jnp.arange(3.0)), jax.devices())
