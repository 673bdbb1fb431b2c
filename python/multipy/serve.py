"""A Ray Serve deployment whose replicas have a pool each: one replica a machine, as many interpreters in it as
that has cores, and the weights once.

    import multipy.serve
    from ray import serve

    serve.run(multipy.serve.deployment("models:make", workers=8, weights="models:load").bind())

Ray places and restarts replicas, routes requests and drains what is taken down; the pool does what happens in
a process.
"""

import asyncio
import importlib
import os

from ray import serve
from ray.util import metrics

from multipy._pool import Pool

_SECONDS_BETWEEN_FIGURES = 5


class PoolReplica:
    """A pool's model, called by HTTP (a JSON body is its argument, and its result the answer) or by a
    deployment's handle (handle.remote(*args, **kwargs))."""

    def __init__(self, model, workers, weights=None, **options):
        self._maker = model
        self._weights = () if weights is None else (_called(weights),)
        self._pool = Pool(workers, model, args=self._weights, **options)
        self._figures = _Figures(self._pool)

    async def __call__(self, *args, **kwargs):
        self._figures.keep_up()
        if len(args) == 1 and not kwargs and type(args[0]).__module__.startswith("starlette."):
            args = (await args[0].json(),)
        return await self._pool.acall(*args, **kwargs)

    async def check_health(self):
        ready, reasons = self._pool.health()
        if not ready:
            raise RuntimeError("; ".join(reasons))

    async def reconfigure(self, user_config):
        """Of a deployment's user_config: {"workers": n} and {"model": "module:function"}, while calls go on."""
        config = dict(user_config or {})
        workers, model = config.pop("workers", None), config.pop("model", None)
        if config:
            raise ValueError(f"expected 'workers' and 'model' in user_config, found {', '.join(sorted(config))}")
        if workers is not None:
            await asyncio.to_thread(self._pool.resize, workers)
        if model is not None and model != self._maker:
            await asyncio.to_thread(self._pool.reload, model, args=self._weights)
            self._maker = model

    def stats(self):
        return self._pool.stats() | {"pid": os.getpid()}

    async def __del__(self):  # which Serve awaits when requests have been drained
        self._figures.stop()
        await asyncio.to_thread(self._pool.close)


class _Figures:
    """The pool's figures as Ray's metrics, which its agent and dashboard have."""

    def __init__(self, pool):
        self._pool = pool
        self._gauges = {
            name: metrics.Gauge(f"multipy_pool_{name}", description=text)
            for name, text in {
                "interpreters": "Interpreters that serve.",
                "running": "Calls under way.",
                "waiting": "Calls in line.",
                "calls": "Calls of the model so far.",
                "timed_out": "Calls that their deadline has ended so far.",
                "replacements": "Interpreters that have been replaced so far.",
            }.items()
        }
        self._task = None

    def keep_up(self):
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._keep_up())

    def stop(self):
        if self._task is not None:
            self._task.cancel()

    async def _keep_up(self):
        while True:
            stats = self._pool.stats()
            serving = [each for each in stats["interpreters"] if each["state"] == "serving"]
            for name, value in {
                **{name: stats[name] for name in ("waiting", "calls", "timed_out")},
                "interpreters": len(serving),
                "running": sum(each["running"] for each in stats["interpreters"]),
                "replacements": sum(stats["replacements"].values()),
            }.items():
                self._gauges[name].set(value)
            await asyncio.sleep(_SECONDS_BETWEEN_FIGURES)


def deployment(model, *, workers, weights=None, pool=None, **options):
    """A deployment to .bind(), with a pool of `workers` interpreters in each replica.

    model: "module:function", which makes it (multipy.Pool).
    weights: "module:function", called once in a replica; what it returns is passed to the model's maker, by
        reference where it is arrays or tensors.
    pool: a dict of further arguments of multipy.Pool.
    options: of serve.deployment: num_replicas, ray_actor_options, user_config and so on.
    """
    options = {"max_ongoing_requests": 2 * workers, "name": "multipy", **options}
    arguments = {"model": model, "workers": workers, "weights": weights, **(pool or {})}

    class Replica(PoolReplica):
        def __init__(self):
            super().__init__(**arguments)

    return serve.deployment(**options)(Replica)


def _called(name):
    module, colon, path = name.partition(":")
    if not (colon and module and path):
        raise ValueError(f"expected 'module:function' as the weights, found {name!r}")
    return getattr(importlib.import_module(module), path)()
