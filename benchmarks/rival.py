"""Plain Python as a rival: takes the same commands as multipy_benchmark, from
standard input, words separated by tabs, and answers each with a line.

    load NAME PACKAGE INPUT    throughput NAME M S    call NAME S
"""

import pathlib
import sys
import time

import torch

import python_loops


def make_inputs(kind: str) -> list:
    what, _, detail = kind.partition(":")
    if what == "int":
        return [1]
    if what == "tensor":
        return [torch.rand([int(size) for size in detail.split("x")]) for _ in range(37)]
    lines = pathlib.Path(detail).read_text(encoding="utf-8").splitlines()
    return [[line] for line in lines if line]


class Rival:
    def __init__(self) -> None:
        self.models = {}

    def load(self, name: str, package: str, kind: str) -> float:
        start = time.perf_counter()
        model = torch.package.PackageImporter(package).load_pickle("model", "model.pkl")
        inputs = make_inputs(kind)
        model(inputs[0])
        self.models[name] = model, inputs
        return time.perf_counter() - start

    def throughput(self, name: str, threads: str, seconds: str) -> float:
        model, inputs = self.models[name]
        return python_loops.throughput(model, inputs, int(threads), float(seconds))

    def call(self, name: str, seconds: str) -> float:
        model, inputs = self.models[name]
        return python_loops.nanoseconds_per_call(model, inputs[0], float(seconds))


def main() -> None:
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    rival = Rival()
    commands = {"load": rival.load, "throughput": rival.throughput, "call": rival.call}
    for line in sys.stdin:
        command, *words = line.rstrip("\n").split("\t")
        try:
            print(commands[command](*words), flush=True)
        except Exception as error:  # it goes to the driver, which ends the run
            print("error:", repr(error).replace("\n", " "), flush=True)


if __name__ == "__main__":
    main()
