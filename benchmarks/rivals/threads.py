"""A rival: plain Python with threads.

load NAME PACKAGE INPUT    throughput NAME M S    open NAME M RATE S BURST SEED
call NAME S                detach S                 pyperformance FOLDER NAME S
"""

import time

import torch

import answering
import inputs
import python_loops
from loads import Loads


class Threads(Loads):
    def load(self, name: str, package: str, kind: str) -> float:
        start = time.perf_counter()
        model = torch.package.PackageImporter(package).load_pickle("model", "model.pkl")
        arguments = inputs.make(kind)
        model(arguments[0])
        self.models[name] = model, arguments
        return time.perf_counter() - start

    def detach(self, seconds: str) -> float:
        """What Python pays for x.detach(): C++'s own detach(), and wrapping its result."""
        return python_loops.nanoseconds_per_call(torch.Tensor.detach, torch.rand(1, 64), float(seconds))


def pyperformance(folder: str, name: str, seconds: str) -> float:
    return python_loops.pyperformance_nanoseconds(folder, name, float(seconds))


def main() -> None:
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    answering.sleep_exactly()
    rival = Threads()
    commands = {"load": rival.load, "detach": rival.detach, "pyperformance": pyperformance}
    answering.answer({**commands, **rival.commands()})


if __name__ == "__main__":
    main()
