"""joblib's backend "multipy": importing this module registers it.

    import multipy.joblib

    with joblib.parallel_config(backend="multipy", n_jobs=4):
        search.fit(X, y)
"""

import concurrent.futures
import multiprocessing
import os
import threading

import joblib
from joblib._parallel_backends import AutoBatchingMixin, FallbackToBackend, ParallelBackendBase, SequentialBackend

from multipy._executor import InterpreterPoolExecutor
from multipy._workers import inside

_lock = threading.Lock()
_executor = None  # kept for the next call: interpreters take a while to start


def _executor_of(workers, variables):
    global _executor
    with _lock:
        if _executor is None or not _executor.is_open() or _executor._variables != variables:
            _executor = _Executor(workers, variables)
        # Threads, and with them interpreters, start when there is a task for one.
        _executor._max_workers = max(_executor._max_workers, workers)
        return _executor


def _give_up(executor):
    """The next call gets another one. (What other threads still have in this one goes on.)"""
    global _executor
    with _lock:
        if _executor is executor:
            _executor = None


class _Executor(InterpreterPoolExecutor):
    # As joblib does with processes: small arrays are copied, large ones are there to be read.
    _crossing = {"copy_below": 1 << 20, "read_only": True}

    def __init__(self, workers, variables):
        self._variables = variables
        threads = variables["OMP_NUM_THREADS"].partition(",")[0]  # "4,2": of nested regions
        threads = int(threads) if threads.isdecimal() else None
        super().__init__(workers, initializer=inside.begin_joblib, initargs=(threads,))

    def is_open(self):
        return self._pid == os.getpid() and not self._shutdown


class MultipyBackend(AutoBatchingMixin, ParallelBackendBase):
    """Tasks run in interpreters of this process."""

    supports_retrieve_callback = True
    supports_inner_max_num_threads = True
    supports_sharedmem = False
    uses_threads = False

    def effective_n_jobs(self, n_jobs):
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if n_jobs is None or multiprocessing.current_process().daemon:
            return 1  # as joblib's own backends in another one's workers
        if n_jobs < 0:
            return max(joblib.cpu_count() + 1 + n_jobs, 1)
        return n_jobs

    def configure(self, n_jobs=1, parallel=None, prefer=None, require=None, **_):
        n_jobs = self.effective_n_jobs(n_jobs)
        if n_jobs == 1:
            raise FallbackToBackend(SequentialBackend(nesting_level=self.nesting_level))
        self._executor = _executor_of(n_jobs, self._prepare_worker_env(n_jobs))
        self._futures = set()
        self.parallel = parallel
        return n_jobs

    def submit(self, func, callback=None):
        future = self._executor.submit(func)
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, future):
        return future.result()

    def terminate(self):
        self.reset_batch_stats()

    def abort_everything(self, ensure_ready=True):
        futures = list(self._futures)
        for future in futures:
            future.cancel(running=True)
        if concurrent.futures.wait(futures, timeout=1).not_done:  # no interrupt has reached them
            _give_up(self._executor)
            if ensure_ready:
                self.configure(n_jobs=self.parallel.n_jobs, parallel=self.parallel)


joblib.register_parallel_backend("multipy", MultipyBackend)
