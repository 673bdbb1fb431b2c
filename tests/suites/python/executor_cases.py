"""CPython's test_concurrent_futures with multipy's executor in the place of others: the tests of executors in
general, and those of threads and of processes that are true of interpreters, too.

    python executor_cases.py [unittest options]

Needs the `test` package. Left out are cases

- that crash or kill a worker: it is the whole process here (test_crash_*, test_shutdown_deadlock, test_killed_child);
- whose tasks share a lock, an event or a list of threads, or a semaphore that is inherited (test_threads_terminate,
  test_saturation, test_pending_calls_race, test_map_submits_without_iteration, test_executor_map_current_future_cancel);
- about pids, start methods, the default number and name of threads.
"""

import concurrent.futures
import os
import pickle
import sys
import types
import unittest

from test.support import script_helper

import multipy
from multipy._executor import Future
from multipy._workers import crossing

# Children of the shutdown tests import it by that name.
CHILD = """import concurrent.futures, multipy
concurrent.futures.InterpreterPoolExecutor = concurrent.futures.ThreadPoolExecutor = multipy.InterpreterPoolExecutor
"""
concurrent.futures.InterpreterPoolExecutor = multipy.InterpreterPoolExecutor


_OF_THREADS = {
    "ThreadPoolExecutorTest": ["test_idle_thread_reuse"],
    "ThreadPoolShutdownTest": [
        "test_context_manager_shutdown",
        "test_del_shutdown",
        "test_shutdown_no_wait",
        "test_thread_names_assigned",
        "test_cancel_futures_wait_false",
    ],
}
_OF_PROCESSES = {
    "ProcessPoolExecutorTest": [
        "test_map_chunksize",
        "_test_traceback",
        "test_traceback",
        "test_ressources_gced_in_workers",
        "test_idle_process_reuse_one",
        "test_idle_process_reuse_multiple",
        "test_max_tasks_early_shutdown",
    ],
}
_CRASHES = [
    "test_crash_at_task_unpickle",
    "test_crash_during_func_exec_on_worker",
    "test_crash_during_result_pickle_on_worker",
    "test_crash_big_data",
    "test_shutdown_deadlock",
    "test_gh105829_should_not_deadlock_if_wakeup_pipe_full",
]


def parts():
    """The modules that have the tests, by class, and the one of their mixins."""
    try:
        from test.test_concurrent_futures import (
            executor, test_as_completed, test_deadlock, test_future, test_init, test_process_pool, test_shutdown,
            test_thread_pool, test_wait, util
        )
    except ImportError:  # one file, before CPython 3.12
        from test import test_concurrent_futures as whole

        return {name: whole for name in vars(whole)}, whole
    modules = (
        util, executor, test_as_completed, test_deadlock, test_future, test_init, test_process_pool, test_shutdown,
        test_thread_pool, test_wait
    )
    found = {}
    for module in modules:
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) == module.__name__:
                found[name] = module
    return found, util


class _AsProcesses(multipy.InterpreterPoolExecutor):
    """What the tests of processes ask for."""

    def __init__(self, max_workers=None, mp_context=None, **keywords):
        super().__init__(max_workers, **keywords)

    @property
    def _processes(self):
        return {thread.ident: thread for thread in self._threads}

    @property
    def _executor_manager_thread(self):
        return next(iter(self._threads))


class _Deadlocks:
    """A worker does not end with a task that exits, or that cannot be unpickled: its future has the error."""

    def _check(self, kind, error, *call, **keywords):
        if error is concurrent.futures.process.BrokenProcessPool:
            error = SystemExit if "_exit_" in self._testMethodName else pickle.UnpicklingError
        kind(error, *call, **keywords)

    def _check_crash(self, *call, **keywords):
        self._check(super()._check_crash, *call, **keywords)

    def _check_error(self, *call, **keywords):  # its name since CPython 3.13
        self._check(super()._check_error, *call, **keywords)


def _futures_with_multipy(executor):
    """concurrent.futures as the module of a test has it."""
    ours = types.SimpleNamespace(**vars(concurrent.futures))
    ours.ThreadPoolExecutor = ours.ProcessPoolExecutor = executor
    ours.process = types.SimpleNamespace(**vars(concurrent.futures.process))
    ours.process._RemoteTraceback = crossing.RaisedThere
    return ours


def main():
    modules, util = parts()

    class Multipy(util.ExecutorMixin):
        executor_type = multipy.InterpreterPoolExecutor

    class AsProcesses(util.ProcessPoolSpawnMixin):
        executor_type = _AsProcesses

    def add(name, *bases, **attributes):
        name = "Multipy" + name.removesuffix("Mixin")
        globals()[name] = type(name, (*bases, util.BaseTestCase), {"__module__": "__main__", **attributes})

    def test(name):
        return getattr(modules[name], name)

    for name in (
        "ExecutorTest", "WaitTests", "AsCompletedTests", "ExecutorShutdownTest", "InitializerMixin",
        "FailingInitializerMixin"
    ):
        add(name, test(name), Multipy)
    for chosen, mixin in (_OF_THREADS, Multipy), (_OF_PROCESSES, AsProcesses):
        for name, cases in chosen.items():
            add(name, mixin, **{case: getattr(test(name), case) for case in cases})
            modules[name].futures = _futures_with_multipy(mixin.executor_type)
    add("ExecutorDeadlockTest", _Deadlocks, test("ExecutorDeadlockTest"), AsProcesses, **dict.fromkeys(_CRASHES))
    add("FutureTests", test("FutureTests"))
    modules["FutureTests"].Future = modules["create_future"].Future = Future
    crossing.RaisedThere.tb = property(str)

    run_in_child = script_helper.assert_python_ok

    def with_executor(*args, **variables):
        args = [CHILD + each if "concurrent.futures" in each else each for each in args]
        # (By itself it would start Python with -I, which hides PYTHONPATH.)
        return run_in_child(*args, __isolated=False, PYTHONPATH=os.environ["PYTHONPATH"], **variables)

    script_helper.assert_python_ok = with_executor
    for module in {*modules.values()}:
        if hasattr(module, "assert_python_ok"):
            module.assert_python_ok = with_executor
    unittest.main(module="__main__", verbosity=2)


if __name__ == "__main__":
    main()
