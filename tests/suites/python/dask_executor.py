"""A pytest plugin: dask computes by an executor, --dask-executor (multipy|processes), also what its tests
compute in their own thread by default."""

import concurrent.futures
import multiprocessing

import dask
import dask.base
import pytest

import multipy

_KINDS = {
    "multipy": multipy.InterpreterPoolExecutor,
    "processes": lambda workers: concurrent.futures.ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")),
}
_OTHERS = concurrent.futures.ThreadPoolExecutor, concurrent.futures.ProcessPoolExecutor


def pytest_addoption(parser):
    parser.addoption("--dask-executor", choices=_KINDS)


def pytest_collection_modifyitems(config, items):
    """Tests of pools that are passed get one of the kind."""
    for item in items:
        parameters = getattr(item, "callspec", None) and item.callspec.params
        if parameters and parameters.get("pool_typ") in _OTHERS:
            parameters["pool_typ"] = _KINDS[config.getoption("dask_executor")]


@pytest.fixture(scope="session")
def _executor(request):
    with _KINDS[request.config.getoption("dask_executor")](2) as executor:
        yield executor


@pytest.fixture(autouse=True)
def _computes_by_executor(_executor, request, monkeypatch):
    if request.path.name in ("test_threaded.py", "test_multiprocessing.py"):
        with dask.config.set(pool=_executor):
            yield
    else:
        by_executor = dask.base.get_scheduler(scheduler=_executor)
        for name in "sync", "synchronous", "single-threaded":
            monkeypatch.setitem(dask.base.named_schedulers, name, by_executor)
        with dask.config.set(scheduler=_executor):
            yield
