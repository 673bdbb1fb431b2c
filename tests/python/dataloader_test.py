"""torch's DataLoader with interpreters as its workers, beside its own processes."""

import multiprocessing
import os
import pathlib
import random
import signal
import subprocess
import sys
import textwrap
import unittest

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

import multipy


class Numbers(Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        return torch.full((3,), float(index)), get_worker_info().id, os.getpid()


class Seeds(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.initial_seed(), random.random(), float(np.random.rand()), torch.rand(1).item()


class Parts(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        yield from range(worker.id, 15, worker.num_workers)


class Lock(Dataset):  # what cannot be pickled
    def __init__(self):
        self.lock = __import__("threading").Lock()

    def __len__(self):
        return 1


class Raising(Numbers):
    def __getitem__(self, index):
        if index == 9:
            raise KeyError("nine")
        return index


class Exiting(Numbers):
    def __getitem__(self, index):
        raise SystemExit(3)


class Modules(Numbers):
    def __getitem__(self, index):
        return type(sys.modules["torch.fx"]).__name__


class Sleeping(Numbers):
    def __getitem__(self, index):
        __import__("time").sleep(60)


def initialized(worker):
    get_worker_info().dataset.offset = 100 * (worker + 1)


class Counting(Dataset):
    """What workers have in common: a value with its lock, a barrier, an array, a queue."""

    def __init__(self, method):
        context = multiprocessing.get_context(method)
        self.count, self.seen = context.Value("i", 0), context.Array("d", 8)
        self.queue, self.event, self.barrier = context.Queue(), context.Event(), context.Barrier(2)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        self.barrier.wait(60)
        with self.count.get_lock():
            self.count.value += 1
            if self.count.value == 8:
                self.event.set()
        self.seen[index] = index / 2
        self.queue.put(index)
        return index


def refuse():
    raise ImportError("not in a worker")


class Unloadable:
    def __reduce__(self):
        return refuse, ()


class Initialized(Numbers):
    def __getitem__(self, index):
        return self.offset + index


def loader(dataset, **options):
    return DataLoader(
        dataset, **{"num_workers": 2, "multiprocessing_context": multipy.dataloader_context(), **options}
    )


def with_processes(dataset, **options):
    return loader(dataset, multiprocessing_context="fork", **options)


class Workers(unittest.TestCase):
    def test_batches_come_from_interpreters_of_this_process(self):
        batches = list(loader(Numbers(), batch_size=4))
        self.assertEqual(torch.cat([numbers for numbers, _, _ in batches])[:, 0].tolist(), list(range(20)))
        self.assertEqual([workers[0].item() for _, workers, _ in batches], [0, 1, 0, 1, 0])
        self.assertEqual({pid.item() for _, _, pids in batches for pid in pids}, {os.getpid()})

    def test_batches_need_no_shared_memory(self):
        before = set(os.listdir("/dev/shm"))
        batches = list(loader(Numbers(), batch_size=4))
        self.assertFalse(any(numbers.is_shared() for numbers, _, _ in batches))
        self.assertEqual(set(os.listdir("/dev/shm")) - before, set())

    def test_seeds_are_those_of_processes(self):
        found = []
        for make in loader, with_processes:
            torch.manual_seed(5)
            found.append([[part.tolist() for part in batch] for batch in make(Seeds(), batch_size=2)])
        self.assertEqual(*found)

    def test_an_iterable_dataset_is_shared_out(self):
        found = [torch.cat(list(make(Parts(), batch_size=2))).tolist() for make in (loader, with_processes)]
        self.assertEqual(*found)

    def test_persistent_workers_keep_what_they_have(self):
        numbers = loader(Numbers(), batch_size=4, persistent_workers=True)
        for _ in range(3):
            self.assertEqual(sum(len(batch[0]) for batch in numbers), 20)
        parts = loader(Parts(), batch_size=2, persistent_workers=True)
        for _ in range(3):
            self.assertEqual(sorted(torch.cat(list(parts)).tolist()), list(range(15)))

    def test_locks_and_values_of_multiprocessing_are_shared(self):
        for method in "fork", "spawn":
            with self.subTest(method):
                counting = Counting(method)
                for _ in range(2):
                    counting.count.value = 0
                    self.assertEqual(list(loader(counting, batch_size=None)), list(range(8)))
                    self.assertEqual(counting.count.value, 8)
                    self.assertTrue(counting.event.is_set())
                    self.assertEqual(sorted(counting.queue.get(timeout=60) for _ in range(8)), list(range(8)))
                self.assertEqual(counting.seen[:], [index / 2 for index in range(8)])
                with counting.count.get_lock():  # which no worker has taken away with it
                    self.assertTrue(counting.queue.empty())

    def test_descriptors_do_not_add_up(self):
        counting = Counting("spawn")
        open_before = None
        for _ in range(3):
            list(loader(counting, batch_size=None))
            [counting.queue.get(timeout=60) for _ in range(8)]
            if open_before is None:
                open_before = len(os.listdir("/proc/self/fd"))
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), open_before)

    def test_descriptors_of_what_could_not_be_loaded_are_closed(self):
        counting = Counting("spawn")
        counting.__dict__ = {"first": Unloadable(), **counting.__dict__}
        open_before = len(os.listdir("/proc/self/fd"))
        hook, sys.excepthook = sys.excepthook, lambda *_: None
        try:
            with self.assertRaisesRegex(RuntimeError, "exited unexpectedly"):
                list(loader(counting, batch_size=None))
        finally:
            sys.excepthook = hook
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), open_before)

    def test_workers_have_no_more_of_torch_than_they_use(self):
        for slim, kind in (True, "LazyModule"), (False, "module"):
            context = multipy.dataloader_context(slim_torch=slim)
            self.assertEqual(set(loader(Modules(), batch_size=None, multiprocessing_context=context)), {kind})

    def test_workers_have_the_pid_that_they_see(self):
        batches = iter(loader(Numbers(), batch_size=4))
        self.assertEqual({worker.pid for worker in batches._workers}, set(next(batches)[2].tolist()))

    def test_worker_init_fn(self):
        found = list(loader(Initialized(), batch_size=None, worker_init_fn=initialized))
        self.assertEqual(found, [100 + i if i % 2 == 0 else 200 + i for i in range(20)])

    def test_the_programs_signals_stay_as_they_are(self):
        before = {number: signal.getsignal(number) for number in (signal.SIGCHLD, signal.SIGSEGV, signal.SIGBUS)}
        list(loader(Numbers()))
        self.assertEqual({number: signal.getsignal(number) for number in before}, before)
        # (A loader with processes has its handler all the same.)
        list(with_processes(Numbers()))
        self.assertIsNot(signal.getsignal(signal.SIGCHLD), signal.SIG_DFL)


class Errors(unittest.TestCase):
    def test_an_exception_is_that_of_a_process(self):
        said = []
        for make in loader, with_processes:
            with self.assertRaises(KeyError) as raised:
                list(make(Raising()))
            lines = str(raised.exception).splitlines()
            said.append((lines[0], lines[-1]))  # in between are lines of this file, by one name or another
        self.assertEqual(*said)

    def test_a_dataset_that_cannot_be_pickled_is_refused_at_once(self):
        with self.assertRaisesRegex(TypeError, "pickle"), self.assertWarns(UserWarning):
            iter(loader(Lock()))

    def test_a_worker_that_exits(self):
        with self.assertRaisesRegex(RuntimeError, "exited unexpectedly"):
            list(loader(Exiting()))

    def test_a_batch_that_does_not_come_in_time(self):
        with self.assertRaisesRegex(RuntimeError, "timed out after 1 seconds"):
            list(loader(Sleeping(), timeout=1, num_workers=1))


class Programs(unittest.TestCase):
    def run_program(self, text):
        done = subprocess.run(
            [sys.executable, "-B", "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=300,
            cwd=pathlib.Path(__file__).parent,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_a_loader_that_is_left_early(self):
        self.run_program(
            """
            from dataloader_test import *
            for batch in loader(Numbers()):
                break
            """
        )

    def test_the_end_of_the_program_with_workers_at_work(self):
        self.run_program(
            """
            from dataloader_test import *
            batches = iter(loader(Numbers(), persistent_workers=True))
            next(batches)
            """
        )


if __name__ == "__main__":
    unittest.main(verbosity=2)
