"""joblib's backend "multipy"."""

import concurrent.futures
import os
import subprocess
import sys
import time
import unittest
import unittest.mock

import joblib
import numpy as np

import multipy.joblib
from multipy.joblib import MultipyBackend


def facts(array):
    return os.getpid(), array.flags.writeable, array.sum()


def nested(n):
    return joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(-i) for i in range(n))


def fail():
    raise LookupError("as it is")


def interpreter():
    time.sleep(0.5)  # so that each of them has one of these calls
    return id(sys.modules["sys"])


def interpreters():
    return set(joblib.Parallel(batch_size=1)(joblib.delayed(interpreter)() for _ in range(4)))


class Backend(unittest.TestCase):
    def setUp(self):
        context = joblib.parallel_config(backend="multipy", n_jobs=2)
        context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)

    def test_calls_run_in_interpreters_of_this_process(self):
        ask = "__import__('sys').modules['_multipy_crossing'].IN_WORKER"
        found = joblib.Parallel()(joblib.delayed(eval)(ask) for _ in range(4))
        self.assertEqual(found, [True] * 4)

    def test_lambdas(self):
        self.assertEqual(joblib.Parallel()(joblib.delayed(lambda x: 2 * x)(i) for i in range(5)), [0, 2, 4, 6, 8])

    def test_large_arrays_are_there_to_be_read_and_small_ones_are_copies(self):
        small, large = np.ones(10), np.ones(1 << 20)
        found = joblib.Parallel()(joblib.delayed(facts)(large) for _ in range(2))
        self.assertEqual(found, [(os.getpid(), False, 1 << 20)] * 2)
        joblib.Parallel()([joblib.delayed(np.ndarray.fill)(small, 2.0)] * 4)
        self.assertEqual(small.sum(), 10)

    def test_nested_calls(self):
        self.assertEqual(joblib.Parallel()(joblib.delayed(nested)(n) for n in (2, 3)), [[0, 1], [0, 1, 2]])

    def test_exceptions(self):
        with self.assertRaisesRegex(LookupError, "as it is"):
            joblib.Parallel()(joblib.delayed(fail)() for _ in range(3))
        self.assertEqual(joblib.Parallel()(joblib.delayed(abs)(i) for i in range(3)), [0, 1, 2])

    def test_a_call_that_fails_leaves_those_of_other_threads_and_the_interpreters_alone(self):
        joblib.Parallel()(joblib.delayed(abs)(i) for i in range(8))
        before = interpreters()

        def other():
            with joblib.parallel_config(backend="multipy", n_jobs=2):
                return joblib.Parallel(pre_dispatch="all", batch_size=1)(joblib.delayed(pow)(i, 2) for i in range(300))

        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            found = threads.submit(other)
            with self.assertRaises(LookupError):
                joblib.Parallel()(joblib.delayed(fail)() for _ in range(1))
            self.assertEqual(found.result(), [i * i for i in range(300)])
        self.assertEqual(interpreters(), before)

    def test_a_task_that_runs_is_ended_with_a_call_that_fails(self):
        start = time.monotonic()
        with self.assertRaises(LookupError):
            joblib.Parallel(batch_size=1)([joblib.delayed(time.sleep)(100), joblib.delayed(fail)()])
        self.assertEqual(joblib.Parallel()(joblib.delayed(abs)(i) for i in range(8)), list(range(8)))
        self.assertLess(time.monotonic() - start, 90)

    def test_libraries_in_a_call_have_their_share_of_threads(self):
        def shares():
            return set(joblib.Parallel()(joblib.delayed(os.getenv)("OPENBLAS_NUM_THREADS") for _ in range(4)))

        before = os.environ.copy()
        with unittest.mock.patch.dict(os.environ):
            for name in MultipyBackend.MAX_NUM_THREADS_VARS:
                os.environ.pop(name, None)
            self.assertEqual(shares(), {str(max(joblib.cpu_count() // 2, 1))})
            with joblib.parallel_config(backend="multipy", n_jobs=2, inner_max_num_threads=3):
                self.assertEqual(shares(), {"3"})
            os.environ["OMP_NUM_THREADS"] = "2,1"
            os.environ["OPENBLAS_NUM_THREADS"] = "5"
            self.assertEqual(shares(), {"5"})
        self.assertEqual(os.environ, before)

    def test_results_as_they_come(self):
        found = joblib.Parallel(return_as="generator_unordered")(joblib.delayed(abs)(i) for i in range(50))
        self.assertEqual(sorted(found), list(range(50)))

    def test_the_end_of_a_program(self):
        program = (
            "import joblib, multipy.joblib\n"
            "print(joblib.Parallel(2, backend='multipy')(joblib.delayed(abs)(-i) for i in range(4)))"
        )
        done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "[0, 1, 2, 3]\n", ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
