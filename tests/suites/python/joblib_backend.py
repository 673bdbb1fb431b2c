"""A pytest plugin: each test runs with --joblib-backend NAME and two jobs, also where it asks for none."""

import joblib
import pytest

import multipy.joblib  # noqa: F401


def pytest_addoption(parser):
    parser.addoption("--joblib-backend")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    with joblib.parallel_config(backend=item.config.getoption("joblib_backend"), n_jobs=2):
        return (yield)
