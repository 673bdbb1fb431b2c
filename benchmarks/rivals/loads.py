"""The commands that every rival driven from Python knows, over what it calls."""

import python_loops


class Loads:
    """`models` has for each name what to call and the inputs to call it with."""

    def __init__(self) -> None:
        self.models = {}

    def commands(self) -> dict:
        return {"throughput": self.throughput, "open": self.open, "call": self.call}

    def throughput(self, name: str, threads: str, seconds: str) -> float:
        model, inputs = self.models[name]
        return python_loops.throughput(model, inputs, int(threads), float(seconds))

    def open(self, name: str, threads: str, rate: str, seconds: str, burst: str, seed: str) -> list:
        model, inputs = self.models[name]
        times = python_loops.arrivals(float(rate), float(seconds), int(burst), int(seed))
        return python_loops.serve(model, inputs, int(threads), times)

    def call(self, name: str, seconds: str) -> float:
        model, inputs = self.models[name]
        return python_loops.nanoseconds_per_call(model, inputs[0], float(seconds))
