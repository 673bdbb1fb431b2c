"""CPython's test_concurrent_futures, its tests of executors in general, with multipy's in the place of others.

    python executor_cases.py [unittest options]

Needs the `test` package. Left out: what is about one kind of executor (its deadlocks, its processes).
"""

import concurrent.futures
import os
import sys
import unittest

from test.support import script_helper

import multipy

# Children of the shutdown tests import it by that name.
CHILD = "import concurrent.futures, multipy; concurrent.futures.InterpreterPoolExecutor = multipy.InterpreterPoolExecutor\n"
concurrent.futures.InterpreterPoolExecutor = multipy.InterpreterPoolExecutor


def parts():
    """The mixins of tests, what makes classes of them, and the module that has them."""
    try:
        from test.test_concurrent_futures import (
            executor, test_as_completed, test_init, test_shutdown, test_wait, util
        )
    except ImportError:  # one file, before CPython 3.12
        from test import test_concurrent_futures as whole

        executor = test_as_completed = test_init = test_shutdown = test_wait = util = whole
    mixins = [
        executor.ExecutorTest,
        test_wait.WaitTests,
        test_as_completed.AsCompletedTests,
        test_shutdown.ExecutorShutdownTest,
        test_init.InitializerMixin,
        test_init.FailingInitializerMixin,
    ]
    return mixins, util


def main():
    mixins, util = parts()

    class Multipy(util.ExecutorMixin):
        executor_type = multipy.InterpreterPoolExecutor

    bases = (util.BaseTestCase,)
    namespace = globals()
    for mixin in mixins:
        name = "Multipy" + mixin.__name__.removesuffix("Mixin")
        namespace[name] = type(name, (mixin, Multipy, *bases), {"__module__": "__main__"})
    run_in_child = script_helper.assert_python_ok

    def with_executor(*args, **variables):
        args = [CHILD + each if "concurrent.futures" in each else each for each in args]
        # (By itself it would start Python with -I, which hides PYTHONPATH.)
        return run_in_child(*args, __isolated=False, PYTHONPATH=os.environ["PYTHONPATH"], **variables)

    script_helper.assert_python_ok = with_executor
    for module in {sys.modules[mixin.__module__] for mixin in mixins}:
        if hasattr(module, "assert_python_ok"):
            module.assert_python_ok = with_executor
    unittest.main(module="__main__", verbosity=2)


if __name__ == "__main__":
    main()
