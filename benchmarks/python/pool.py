"""What a call of multipy.Pool costs beyond the model's own code.

    python pool.py [--repeats N]

Medians of single calls over the repeats, with the least and the greatest; the model returns its argument.
"""

import argparse
import asyncio
import statistics
import sys
import time


def make():
    return lambda x: x


def times(call, n=5000):
    for _ in range(n // 10):
        call()
    began = time.perf_counter()
    for _ in range(n):
        call()
    return (time.perf_counter() - began) / n


def main():
    import numpy as np
    import torch

    import multipy

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    sys.path.insert(0, __file__.rpartition("/")[0])
    tensor, array = torch.zeros(4), np.zeros(4)
    plain = make()
    with multipy.Pool(2, "pool:make") as pool:

        async def awaited():
            began = time.perf_counter()
            for _ in range(1000):
                await pool.acall(tensor)
            return (time.perf_counter() - began) / 1000

        ways = {
            "plain(tensor)": lambda: times(lambda: plain(tensor)),
            "pool(1)": lambda: times(lambda: pool(1)),
            "pool(tensor)": lambda: times(lambda: pool(tensor)),
            "pool(array)": lambda: times(lambda: pool(array)),
            "pool((tensor, 1))": lambda: times(lambda: pool((tensor, 1))),
            "pool.submit(tensor).result()": lambda: times(lambda: pool.submit(tensor).result()),
            "await pool.acall(tensor)": lambda: asyncio.run(awaited()),
        }
        found = {name: [] for name in ways}
        for _ in range(options.repeats):
            for name, measure in ways.items():
                found[name].append(measure() * 1e6)
    print("| | µs |\n|---|---|")
    for name, each in found.items():
        print(f"| `{name}` | {statistics.median(each):.3g} ({min(each):.3g} to {max(each):.3g}) |")


if __name__ == "__main__":
    main()
