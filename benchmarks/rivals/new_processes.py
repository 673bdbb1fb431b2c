"""Worker processes as a rival for further interpreters. Answers each line of
standard input with the seconds that one more worker took until it had torch (but for
bare ones) and had called one operator; the workers stay until the end of the input.

    python new_processes.py fresh         each a new Python that imports torch
    python new_processes.py bare          each a new Python that does not
    python new_processes.py forkserver    each forked from a server that has

Before the answer, but after its clock has stopped, the worker collects garbage
once, as every worker does sooner or later: it touches all objects, so that pages
which a forked one still had in common with the server become its own.
"""

import multiprocessing
import subprocess
import sys
import time

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


def forked(tell, stay) -> None:
    import gc

    import torch

    torch.ones(8).sum()
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
    def __init__(self) -> None:
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["torch"])
        self.workers = []

    def start(self) -> float:
        start = time.perf_counter()
        hear, tell = self.context.Pipe(duplex=False)
        stay, leave = self.context.Pipe(duplex=False)
        worker = self.context.Process(target=forked, args=(tell, stay))
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
    kinds = {
        "fresh": lambda: FreshWorkers(FRESH),
        "bare": lambda: FreshWorkers(BARE),
        "forkserver": ForkServerWorkers,
    }
    workers = kinds[sys.argv[1]]()
    for _ in sys.stdin:
        print(workers.start(), flush=True)
    workers.stop()


if __name__ == "__main__":
    main()
