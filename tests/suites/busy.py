"""What the other interpreters do meanwhile: work of many kinds, in Python and in numpy,
that makes and drops objects, raises, imports, collects garbage and starts threads."""

import collections
import gc
import importlib
import json
import re
import threading

import numpy


def work(until) -> int:
    """Works until `until()` is true. -> how many times it went through everything."""
    rounds = 0
    while True:
        for kind in (texts, numbers, objects, modules, threads):
            kind()
        rounds += 1
        if until():
            return rounds


def texts():
    lines = [f"{n} squared is {n * n}" for n in range(500)]
    found = [tuple(map(int, re.findall(r"\d+", line))) for line in lines]
    assert json.loads(json.dumps(found)) == [[n, n * n] for n in range(500)]


def numbers():
    matrix = numpy.add.outer(numpy.arange(64.0), numpy.arange(64.0)) + 64 * numpy.eye(64)
    right = matrix @ numpy.ones(64)
    assert numpy.allclose(numpy.linalg.solve(matrix, right), 1)


def objects():
    class Node:
        def __init__(self, before):
            self.before, self.self = before, self

    for _ in range(20):
        node = None
        for _ in range(50):
            node = Node(node)
    gc.collect(1)
    counted = collections.Counter()
    for n in range(300):
        try:
            counted[n % 7 // (n % 3)] += 1
        except ZeroDivisionError as error:
            counted[type(error).__name__] += 1
    assert counted["ZeroDivisionError"] == 100


def modules():
    import colorsys

    assert importlib.reload(colorsys).rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)


def threads():
    sums = []
    started = [threading.Thread(target=lambda n=n: sums.append(sum(range(n)))) for n in range(3)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert sorted(sums) == [0, 0, 1]
