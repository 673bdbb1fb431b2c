"""Timing loops in Python: run by plain Python (rival.py) and, the same source,
inside a multipy interpreter (the command call_inside)."""

import itertools
import threading
import time


def nanoseconds_per_call(model, x, seconds):
    """Of model(x), over as many calls as fit into the time."""

    def thousand_calls():
        for _ in itertools.repeat(None, 1000):
            model(x)

    thousand_calls()
    calls = 0
    start = time.perf_counter()
    while True:
        thousand_calls()
        calls += 1000
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return elapsed * 1e9 / calls


def throughput(model, inputs, threads, seconds):
    """Calls per second of so many threads together, each with its own inputs in turn."""
    gate = threading.Barrier(threads + 1)
    done = [0] * threads
    stop = False

    def work(thread):
        turn = itertools.cycle(inputs[thread:] + inputs[:thread])
        for _ in range(3):
            model(next(turn))
        gate.wait()
        calls = 0
        while not stop:
            model(next(turn))
            calls += 1
        done[thread] = calls

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    gate.wait()
    start = time.perf_counter()
    time.sleep(seconds)
    stop = True
    elapsed = time.perf_counter() - start
    for worker in workers:
        worker.join()
    return sum(done) / elapsed
