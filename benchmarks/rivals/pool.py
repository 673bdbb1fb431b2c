"""A rival: worker processes under a Python program, with what Python brings along.

    python pool.py fork|forkserver|spawn WORKERS

    load NAME PACKAGE INPUT (before start)    start
    throughput NAME M S                       open NAME M RATE S BURST SEED    limit N

The fastest way that we found with the standard library and torch alone: each worker
has its own pages in shared memory for a request and an answer (area.py: tensors are
copied in and out, never pickled) and two semaphores, which are futexes. A client
thread takes a free worker from a queue, and nothing else is between them.
(multiprocessing.Queue pickles and has a thread of its own; torch.multiprocessing
passes a file descriptor for each new tensor.)
"""

import multiprocessing
import queue
import sys
import time
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory

import torch

import answering
import inputs
from area import MODEL, Area
from loads import Loads

AREA_BYTES = (20 << 20) + 4096
STOP = -1


class Mapped(SharedMemory):
    def close(self) -> None:
        """Tensors view this memory for as long as the process lives: so does the mapping."""


def work(name: str, request, answered, packages: list[str]) -> None:
    """What a worker process does."""
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    memory = Mapped(name)
    incoming, outgoing = Area(memory.buf[:AREA_BYTES]), Area(memory.buf[AREA_BYTES:])
    models = [torch.package.PackageImporter(package).load_pickle("model", "model.pkl") for package in packages]
    while True:
        request.acquire()
        number = incoming.header[MODEL]
        if number == STOP:
            return
        try:
            outgoing.put(models[number](incoming.get()))
        except Exception as error:  # the client raises it
            outgoing.put_error(error)
        answered.release()


class Worker:
    def __init__(self, context, packages: list[str]) -> None:
        self.memory = Mapped(create=True, size=2 * AREA_BYTES)
        self.outgoing = Area(self.memory.buf[:AREA_BYTES])
        self.incoming = Area(self.memory.buf[AREA_BYTES:])
        self.request, self.answered = context.Semaphore(0), context.Semaphore(0)
        self.process = context.Process(
            target=work, args=(self.memory.name, self.request, self.answered, packages), daemon=True
        )
        self.process.start()

    def call(self, model: int, argument):
        self.outgoing.put(argument, model)
        self.request.release()
        while not self.answered.acquire(timeout=10):
            if not self.process.is_alive():
                raise RuntimeError(f"a worker ended with exit code {self.process.exitcode}")
        answer = self.incoming.get()
        return answer.clone() if isinstance(answer, torch.Tensor) else answer

    def stop(self) -> None:
        self.outgoing.header[MODEL] = STOP
        self.request.release()
        self.process.join()
        self.memory.unlink()


class Pool(Loads):
    def __init__(self, method: str, workers: int) -> None:
        super().__init__()
        self.context = multiprocessing.get_context(method)
        if method == "forkserver":
            self.context.set_forkserver_preload(["torch", "pool"])
        self.count = workers
        self.packages = []
        self.workers = []
        self.free = queue.SimpleQueue()

    def load(self, name: str, package: str, kind: str) -> float:
        number = len(self.packages)
        self.packages.append(package)
        self.models[name] = (lambda argument: self.call(number, argument)), inputs.make(kind)
        return 0.0

    def call(self, model: int, argument):
        worker = self.free.get()
        try:
            return worker.call(model, argument)
        finally:
            self.free.put(worker)

    def start(self) -> float:
        start = time.perf_counter()
        self.workers = [Worker(self.context, self.packages) for _ in range(self.count)]
        for worker in self.workers:  # each has called each model once
            for number, (_, arguments) in enumerate(self.models.values()):
                worker.call(number, arguments[0])
        self.limit(self.count)
        return time.perf_counter() - start

    def limit(self, workers) -> float:
        """Only so many are given requests from now on. Nothing may be under way."""
        self.free = queue.SimpleQueue()
        for worker in self.workers[: int(workers)]:
            self.free.put(worker)
        return 0.0

    def stop(self) -> None:
        for worker in self.workers:
            worker.stop()


def main() -> None:
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    answering.sleep_exactly()
    resource_tracker.ensure_running()  # before any fork: all processes share the one
    pool = Pool(sys.argv[1], int(sys.argv[2]))
    answering.answer({"load": pool.load, "start": pool.start, "limit": pool.limit, **pool.commands()})
    pool.stop()


if __name__ == "__main__":
    main()
