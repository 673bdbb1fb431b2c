"""A WSGI application of which each worker has a pool, made for the first request."""

import os
import threading

import torch

import multipy

_making = threading.Lock()
_pool = None


def _model():
    import torch

    layer = torch.nn.Linear(4, 1)
    torch.nn.init.ones_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    return lambda x: layer(x).sum().item()


def application(environ, start_response):
    global _pool
    with _making:
        if _pool is None:
            _pool = multipy.Pool(2, _model)
    answer = _pool(torch.ones(2, 4))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{os.getpid()} {answer}".encode()]
