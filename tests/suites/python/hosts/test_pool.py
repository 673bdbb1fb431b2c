"""What a user's own tests do with pools."""

import numpy
import pytest

import multipy


def double(x):
    return x * 2


@pytest.fixture(scope="session")
def pool():
    with multipy.Pool(2, lambda: double) as pool:
        yield pool


@pytest.mark.parametrize("size", [1, 1000])
def test_arrays(pool, size):
    assert (pool(numpy.ones(size)) == 2).all()


def test_an_error(pool):
    with pytest.raises(TypeError):
        pool(None)


def test_an_executor():
    with multipy.InterpreterPoolExecutor(2) as executor:
        assert list(executor.map(double, [1, 2, 3])) == [2, 4, 6]


def test_what_a_task_prints(capfd):
    with multipy.InterpreterPoolExecutor(1) as executor:
        executor.submit(print, "printed there").result()
    assert "printed there" in capfd.readouterr().out


def test_a_pool_that_is_not_closed():
    pool = multipy.Pool(1, lambda: double)
    globals()["kept"] = pool, pool.submit(3)
