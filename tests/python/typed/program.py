"""What a type checker is to see in a program (types_test.py). A comment names the error of its line."""

import concurrent.futures
import multiprocessing.context
from collections.abc import Iterator
from typing import Any

from typing_extensions import assert_type

import multipy


def square(number: int) -> int:
    return number * number


def use_executor() -> None:
    with multipy.InterpreterPoolExecutor(2, initializer=print, initargs=("a",), max_tasks_per_child=3) as executor:
        as_any: concurrent.futures.Executor = executor
        assert_type(as_any.submit(square, 2).result(), int)
        future = executor.submit(square, 2, deadline=1.5)
        assert_type(future, multipy.Future[int])
        assert_type(future.cancel(running=True), bool)
        assert_type(executor.map(square, [1, 2], chunksize=2, buffersize=4, progress=True), Iterator[int])
        executor.submit(square, number=2)
        executor.submit(square, "2")  # call-overload
        executor.submit(square, 2, 3)  # call-overload
        executor.submit(square, 2, deadline="soon")  # call-arg
    multipy.InterpreterPoolExecutor(workers=2)  # call-arg


async def use_pool() -> None:
    with multipy.Pool(2, "models:make", args=(1,), deadline=60, max_waiting=3) as pool:
        assert_type(pool, multipy.Pool)
        assert_type(pool(1, deadline=2), Any)
        assert_type(await pool.acall(1, key="value"), Any)
        assert_type(pool.submit(1), concurrent.futures.Future[Any])
        assert_type(pool.map([1, 2], buffersize=3), Iterator[Any])
        assert_type(pool.stats(), dict[str, Any])
        assert_type(pool.health(), tuple[bool, list[str]])
        pool.resize("3")  # arg-type
        pool.reload(2)  # arg-type


assert_type(multipy.dataloader_context(slim_torch=False), multiprocessing.context.BaseContext)
assert_type(multipy.__version__, str)
multipy.nothing  # attr-defined
