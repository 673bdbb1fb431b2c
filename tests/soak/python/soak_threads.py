"""Threads, executors, tasks: what Python itself does at once."""

import asyncio
import concurrent.futures
import contextvars
import queue
import threading

number = contextvars.ContextVar("number")


def through_a_queue(workers, items):
    """The sum of the squares of range(items), made by threads."""
    todo, done = queue.Queue(maxsize=8), queue.Queue()

    def work():
        while (item := todo.get()) is not None:
            done.put(item * item)

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for item in range(items):
        todo.put(item)
    for _ in threads:
        todo.put(None)
    for thread in threads:
        thread.join()
    return sum(done.get_nowait() for _ in range(items))


def by_a_pool(workers, items):
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return sum(pool.map(lambda item: item * item, range(items)))


def error_in_a_pool(text):
    def fail():
        raise LookupError(text)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return pool.submit(fail).result()


async def _square(item, pause):
    await asyncio.sleep(pause)
    return item * item


async def _gather(items):
    sleeping = [_square(item, 0.001 * (item % 3)) for item in range(items)]
    threaded = asyncio.to_thread(sum, range(items))
    return sum(await asyncio.gather(*sleeping)) + await threaded


def by_asyncio(items):
    return asyncio.run(_gather(items))


def contexts(count):
    """Each context sees its own value."""

    def read(value):
        number.set(value)
        return number.get()

    read_values = [contextvars.copy_context().run(read, value) for value in range(count)]
    assert number.get(None) is None
    return read_values


def thread_locals(count):
    local, seen, lock = threading.local(), [], threading.Lock()

    def work(value):
        local.value = value
        started.wait()
        with lock:
            seen.append(local.value)

    started = threading.Barrier(count)
    threads = [threading.Thread(target=work, args=(value,)) for value in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(seen)


def with_torch(count):
    import torch

    def work(value):
        return int(torch.full((64,), value).sum())

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return sum(pool.map(work, range(count)))
