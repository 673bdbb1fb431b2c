"""Worker processes as a rival for further interpreters. Answers each line of
standard input with the seconds that one more worker took until it had torch (but for
bare ones) and had called one operator; the workers stay until the end of the input.

    python new_processes.py fresh         each a new Python that imports torch
    python new_processes.py bare          each a new Python that does not
    python new_processes.py forkserver    each forked from a server that has
    python new_processes.py fresh STACK, forkserver STACK
                                          instead of torch, a stack of stacks.py, and one
                                          call of its model; the server has its modules

Before the answer, but after its clock has stopped, the worker collects garbage
once, as every worker does sooner or later: it touches all objects, so that pages
which a forked one still had in common with the server become its own.
"""

import multiprocessing
import pathlib
import subprocess
import sys
import time

import stacks

FRESH = """
import torch
torch.ones(8).sum()
"""
BARE = "len('four')"
STAY = """
print("ready", flush=True)
import gc, sys
gc.collect()
print("settled", flush=True)
sys.stdin.read()
"""


def serve(stack: str) -> None:
    if stack:
        stacks.serve(stack)
    else:
        import torch

        torch.ones(8).sum()


def forked(stack, tell, stay) -> None:
    import gc

    serve(stack)
    tell.send("ready")
    gc.collect()
    tell.send("settled")
    stay.recv()


class FreshWorkers:
    def __init__(self, program: str) -> None:
        self.program = program + STAY
        self.workers = []

    def start(self) -> float:
        start = time.perf_counter()
        pipe = subprocess.PIPE
        worker = subprocess.Popen([sys.executable, "-c", self.program], stdin=pipe, stdout=pipe, text=True)
        self.workers.append(worker)
        expect("ready", worker.stdout.readline().strip())
        seconds = time.perf_counter() - start
        expect("settled", worker.stdout.readline().strip())
        return seconds

    def stop(self) -> None:
        for worker in self.workers:
            worker.communicate("")


class ForkServerWorkers:
    def __init__(self, stack: str) -> None:
        self.stack = stack
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(stacks.MODULES[stack] if stack else ["torch"])
        self.workers = []

    def start(self) -> float:
        start = time.perf_counter()
        hear, tell = self.context.Pipe(duplex=False)
        stay, leave = self.context.Pipe(duplex=False)
        worker = self.context.Process(target=forked, args=(self.stack, tell, stay))
        worker.start()
        self.workers.append((worker, leave))
        expect("ready", hear.recv())
        seconds = time.perf_counter() - start
        expect("settled", hear.recv())
        return seconds

    def stop(self) -> None:
        for worker, leave in self.workers:
            leave.send(None)
            worker.join()


def expect(word: str, heard: str) -> None:
    if heard != word:
        sys.exit(f"a worker said {heard!r}, expected {word!r}")


def main() -> None:
    stack = sys.argv[2] if len(sys.argv) > 2 else ""
    of_stack = f"import sys; sys.path.append({str(pathlib.Path(__file__).parent)!r}); import stacks; stacks.serve({stack!r})"
    kinds = {
        "fresh": lambda: FreshWorkers(of_stack if stack else FRESH),
        "bare": lambda: FreshWorkers(BARE),
        "forkserver": lambda: ForkServerWorkers(stack),
    }
    workers = kinds[sys.argv[1]]()
    for _ in sys.stdin:
        print(workers.start(), flush=True)
    workers.stop()


if __name__ == "__main__":
    main()
