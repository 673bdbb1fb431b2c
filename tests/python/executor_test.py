"""multipy.InterpreterPoolExecutor, as an ordinary Python program uses it."""

import array
import asyncio
import concurrent.futures
import ctypes
import functools
import gc
import math
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import unittest.mock
import weakref

import numpy as np

import multipy


def setUpModule():
    global pool
    pool = multipy.InterpreterPoolExecutor(2)


def tearDownModule():
    pool.shutdown()


def result(function, *arguments, **keywords):
    return pool.submit(function, *arguments, **keywords).result(120)


def kind_of(module):
    import torch

    return type(sys.modules[module]).__name__


class TwoArguments(Exception):
    def __init__(self, first, second):
        super().__init__(first)


class NoException(Exception):
    def __reduce__(self):
        return int, ()


class NoText(Exception):
    def __str__(self):
        raise ValueError("there is none")

    def __reduce__(self):
        raise self


def raise_it(kind, *arguments):
    raise kind(*arguments)


class Tasks(unittest.TestCase):
    def test_an_interpreter_executes_all_of_torch_where_it_is_to(self):
        for slim, kind in (True, "LazyModule"), (False, "module"):
            with multipy.InterpreterPoolExecutor(1, slim_torch=slim) as own:
                self.assertEqual(own.submit(kind_of, "torch.fx").result(120), kind)

    def test_what_packages_of_the_programs_import_is_put_off(self):
        with tempfile.TemporaryDirectory() as place:
            with open(os.path.join(place, "of_the_program.py"), "w") as file:
                file.write("import yaml, colorsys\n")
            first = f"import sys; sys.path.insert(0, {place!r}); import torch, of_the_program"
            slim = {"slim_importers": ["of_the_program"], "slim_modules": ["colorsys"]}
            names = "yaml", "colorsys"
            for how, kind in (slim, "LazyModule"), ({}, "module"), ({**slim, "slim_torch": False}, "module"):
                with multipy.InterpreterPoolExecutor(1, **how) as own:
                    own.submit(exec, first).result(120)
                    self.assertEqual([own.submit(kind_of, name).result(120) for name in names], [kind] * 2)
        for wrong, error in (["a-b"], ValueError), ("abc", TypeError):
            with self.assertRaises(error):
                with multipy.InterpreterPoolExecutor(1, slim_importers=wrong) as own:
                    own.submit(abs, -1).result(120)

    def test_numexpr_ends_its_threads_with_the_interpreter(self):
        """Which would keep it in memory for ever. A stand-in: with numexpr itself scripts/package-table is run."""
        with tempfile.TemporaryDirectory() as place:
            noted = os.path.join(place, "noted")
            with open(os.path.join(place, "numexpr.py"), "w") as file:
                file.write(f"def set_num_threads(number): open({noted!r}, 'w').write(str(number))\n")
            with multipy.InterpreterPoolExecutor(1) as own:
                own.submit(exec, f"import sys; sys.path.insert(0, {place!r}); import numexpr").result(120)
                self.assertFalse(os.path.exists(noted))
            with open(noted) as file:
                self.assertEqual(file.read(), "1")

    def test_a_function_is_called_in_another_interpreter(self):
        self.assertEqual(result(pow, 2, 10), 1024)
        self.assertNotEqual(result(id, None), id(None))

    def test_keyword_arguments_and_those_named_like_the_executors_own(self):
        self.assertEqual(result(functools.partial(sorted, reverse=True), [1, 3, 2]), [3, 2, 1])
        self.assertEqual(result(dict, fn=1, self=2), {"fn": 1, "self": 2})

    def test_map_keeps_the_order(self):
        self.assertEqual(list(pool.map(math.sqrt, range(10))), [math.sqrt(i) for i in range(10)])
        self.assertEqual(list(pool.map(pow, range(10), range(10), chunksize=3)), [i**i for i in range(10)])

    def test_map_with_a_buffer_takes_no_more_than_it_needs(self):
        taken = []

        def numbers():
            for number in range(10):
                taken.append(number)
                yield number

        results = pool.map(abs, numbers(), buffersize=2)
        self.assertEqual(len(taken), 2)
        self.assertEqual(next(results), 0)
        self.assertLessEqual(len(taken), 4)
        self.assertEqual(list(results), list(range(1, 10)))

    def test_results_of_map_do_not_keep_the_pool(self):
        other = multipy.InterpreterPoolExecutor(1)
        results = other.map(abs, [-1, -2])
        threads = list(other._threads)
        del other
        gc.collect()
        for thread in threads:
            thread.join(60)
            self.assertFalse(thread.is_alive())
        self.assertEqual(list(results), [1, 2])

    def test_a_pool_that_nothing_keeps_takes_the_rest_of_a_map_with_a_buffer(self):
        self.assertEqual(list(multipy.InterpreterPoolExecutor(1).map(abs, [-1, -2, -3], buffersize=1)), [1, 2, 3])

    def test_variables_that_a_task_sets_are_not_the_programs(self):
        with unittest.mock.patch.dict(os.environ, {"MULTIPY_SET_BEFORE": "b\udce9fore"}):
            with multipy.InterpreterPoolExecutor(1) as other:
                self.assertEqual(other.submit(os.getenv, "MULTIPY_SET_BEFORE").result(), "b\udce9fore")
                other.submit(os.putenv, "MULTIPY_SET_THERE", "there").result()
                other.submit(exec, "import os; os.environ['MULTIPY_SET_THERE'] = 'there'").result()
                self.assertEqual(other.submit(os.getenv, "MULTIPY_SET_THERE").result(), "there")
        libc = ctypes.CDLL(None)
        libc.getenv.restype = ctypes.c_char_p
        self.assertIsNone(libc.getenv(b"MULTIPY_SET_THERE"))

    def test_two_tasks_run_at_once(self):
        here = np.zeros(2)
        meet = "import time\nhere[me] = 1\nwhile not here.all(): time.sleep(0.01)"
        for future in [pool.submit(exec, meet, {"here": here, "me": me}) for me in range(2)]:
            future.result(120)

    def test_asyncio_awaits_it(self):
        async def ask():
            return await asyncio.get_running_loop().run_in_executor(pool, math.factorial, 10)

        self.assertEqual(asyncio.run(ask()), 3628800)


class Exceptions(unittest.TestCase):
    def test_it_arrives_as_itself_with_the_workers_traceback(self):
        with self.assertRaises(ZeroDivisionError) as raised:
            result(divmod, 1, 0)
        self.assertIn("ZeroDivisionError", str(raised.exception.__cause__))
        self.assertIn("Traceback (most recent call last)", str(raised.exception.__cause__))

    def test_system_exit_ends_the_task_alone(self):
        with self.assertRaises(SystemExit) as raised:
            result(sys.exit, 3)
        self.assertEqual(raised.exception.code, 3)
        self.assertEqual(result(abs, -1), 1)

    def test_what_cannot_be_pickled_is_told_by_its_future(self):
        future = pool.submit(abs, threading.Lock())
        self.assertRegex(str(future.exception(10)), "pickle")
        self.assertFalse(future.cancel(running=True))
        results = pool.map(abs, [-1, threading.Lock()])
        self.assertEqual(next(results), 1)
        with self.assertRaisesRegex(Exception, "pickle"):
            next(results)

    def test_why_it_cannot_be_pickled_is_said_by_pickle(self):
        nested = []
        for _ in range(100_000):
            nested = [nested]
        with self.assertRaises(RecursionError):
            result(len, nested)
        while nested:
            nested = nested.pop()

    def test_what_cannot_be_pickled_back_is_told(self):
        with self.assertRaisesRegex(Exception, "pickle"):
            result(threading.Lock)

    def test_a_module_that_is_missing_there_is_named(self):
        module = type(sys)("only_here")
        sys.modules["only_here"] = module
        exec("def f(): pass", module.__dict__)
        with self.assertRaisesRegex(ModuleNotFoundError, "only_here"):
            result(module.f)


    def test_the_traceback_of_what_cannot_be_unpickled_here_is_told(self):
        for kind, *arguments in (TwoArguments, 1, 2), (NoException,), (NoText,):
            with self.assertRaises(RuntimeError) as raised:
                result(raise_it, kind, *arguments)
            self.assertIn("in raise_it", str(raised.exception.__cause__))
            self.assertIn(kind.__name__, str(raised.exception.__cause__))


class Buffers(unittest.TestCase):
    def test_an_array_is_seen_where_it_is(self):
        array = np.zeros(10000)
        result(np.ndarray.fill, array, 7.0)
        self.assertTrue((array == 7).all())

    def test_a_result_is_seen_where_it_is_and_can_be_written(self):
        array = result(np.arange, 10000)
        self.assertTrue((array == np.arange(10000)).all())
        array += 1
        self.assertEqual(array[0], 1)

    def test_read_only_stays_so_both_ways(self):
        array = np.zeros(1000)
        array.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "read-only"):
            result(np.ndarray.fill, array, 1.0)
        back = result(np.broadcast_to, np.ones(1), (1,))
        self.assertFalse(back.flags.writeable)

    def test_the_programs_array_is_given_up_after_the_task(self):
        class Array(np.ndarray):
            pass

        array = np.zeros(100000).view(Array)
        gone = weakref.ref(array)
        result(np.sum, np.asarray(array))
        del array
        for _ in range(100):
            result(abs, 1)
            gc.collect()
            if gone() is None:
                break
            time.sleep(0.05)
        self.assertIsNone(gone())

    def test_an_array_that_a_worker_keeps_outlives_the_programs(self):
        own = multipy.InterpreterPoolExecutor(1)
        array = np.arange(100000)
        own.submit(eval, "setattr(__import__('math'), 'kept', array)", {"array": array}).result(120)
        del array
        gc.collect()
        junk = [np.full(100000, 5) for _ in range(20)]
        self.assertEqual(own.submit(eval, "int(__import__('math').kept.sum())").result(60), 4999950000)
        del junk
        own.shutdown()

    def test_a_result_outlives_its_pool(self):
        with multipy.InterpreterPoolExecutor(1) as own:
            array = own.submit(np.arange, 100000).result(120)
        gc.collect()
        self.assertEqual(int(array.sum()), 4999950000)

    def test_copies_for_a_pool_that_wants_them(self):
        with multipy.InterpreterPoolExecutor(1, copy=True) as own:
            array = np.zeros(10000)
            back = own.submit(np.ndarray.__iadd__, array, 1).result(120)
            self.assertEqual((array.sum(), back.sum()), (0, 10000))
        gc.collect()
        self.assertEqual(back.sum(), 10000)

    def test_views_of_memory_cross(self):
        data = bytearray(b"abc" * 1000)
        self.assertEqual(result(len, memoryview(data)), 3000)
        self.assertEqual(result(bytes.fromhex, "616263"), b"abc")


    def test_views_of_memory_keep_their_format_and_shape(self):
        for view in (memoryview(array.array("d", [1, 2])), memoryview(np.arange(6).reshape(2, 3)), memoryview(b"ab")):
            back = result(lambda x: x, view)
            self.assertEqual((back.format, back.shape, back.tolist()), (view.format, view.shape, view.tolist()))
        for view in memoryview(b"abcd")[::2], memoryview(np.zeros(2, ">f8")):
            with self.assertRaisesRegex(pickle.PicklingError, "memoryview"):
                result(len, view)


class Torch(unittest.TestCase):
    def test_views_without_memory_cross(self):
        for view in memoryview(b""), memoryview(bytearray()), memoryview(np.empty(0, np.int32)):
            there = result(lambda x: x, view)
            self.assertEqual((there.format, there.nbytes, there.readonly), (view.format, 0, view.readonly))

    def test_a_buffer_that_is_returned_is_a_view(self):
        there = result(eval, "__import__('pickle').PickleBuffer(bytearray(b'abc'))")
        self.assertEqual((type(there), bytes(there)), (memoryview, b"abc"))

    def test_a_storage_crosses_by_reference(self):
        import torch

        x = torch.arange(3)
        there = result(lambda x: x, x.untyped_storage())
        self.assertEqual(type(there), torch.UntypedStorage)
        self.assertEqual(there.data_ptr(), x.data_ptr())

    def test_a_tensor_crosses_by_reference(self):
        import torch

        x = torch.zeros(1000)
        y = result(torch.Tensor.add_, x, 1)
        self.assertTrue(bool((x == 1).all()))
        self.assertEqual(y.data_ptr(), x.data_ptr())

    def test_a_tensor_crosses_by_reference_where_cloudpickle_is_needed(self):
        import torch

        x = torch.zeros(1000)
        y = result(lambda tensor: tensor.add_(1), x)
        self.assertTrue(bool((x == 1).all()))
        self.assertEqual(y.data_ptr(), x.data_ptr())

    def test_copies_of_tensors_for_a_pool_that_wants_them(self):
        import torch

        with multipy.InterpreterPoolExecutor(1, copy=True) as own:
            x = torch.zeros(1000)
            y = own.submit(torch.Tensor.add_, x, 1).result(120)
        self.assertEqual((x.sum().item(), y.sum().item()), (0, 1000))

    def test_a_parameter_and_a_module_cross(self):
        import torch

        layer = torch.nn.Linear(3, 2)
        x = torch.randn(5, 3)
        y = result(torch.nn.Module.__call__, layer, x)
        torch.testing.assert_close(y.detach(), layer(x).detach())

    def test_a_result_comes_with_its_graph(self):
        import torch

        weight = torch.ones(3, requires_grad=True)
        total = result(torch.dot, weight, torch.arange(3.0))
        total.backward()
        self.assertEqual(total.item(), 3)

    def test_a_tensor_with_a_graph_says_what_to_do(self):
        import torch

        with self.assertRaisesRegex(RuntimeError, "detach"):
            result(torch.sum, torch.ones(2, requires_grad=True) * 2)


class Limits(unittest.TestCase):
    def test_a_task_that_runs_can_be_cancelled(self):
        future = pool.submit(time.sleep, 600)
        while not future.running():
            time.sleep(0.01)
        time.sleep(0.2)
        self.assertFalse(future.cancel())
        self.assertTrue(future.cancel(running=True))
        with self.assertRaises(concurrent.futures.CancelledError):
            future.result(60)
        self.assertEqual(result(abs, -1), 1)

    def test_a_task_is_cancelled_whenever_it_is_asked_for(self):
        for delay in 0, 0.01, 0.03, 0.1:  # the interpreter starts, the task begins
            with multipy.InterpreterPoolExecutor(1) as other:
                future = other.submit(time.sleep, 60)
                time.sleep(delay)
                self.assertTrue(future.cancel(running=True))
                with self.assertRaises(concurrent.futures.CancelledError):
                    future.result(30)
        for _ in range(20):
            future = pool.submit(time.sleep, 60)
            while not future.running():
                pass
            self.assertTrue(future.cancel(running=True))
            with self.assertRaises(concurrent.futures.CancelledError):
                future.result(30)

    def test_a_deadline_ends_a_task(self):
        with self.assertRaises(concurrent.futures.TimeoutError):
            pool.submit(time.sleep, 600, deadline=0.3).result(60)
        self.assertEqual(result(abs, -1), 1)

    def test_a_deadline_ends_a_task_that_waits_in_line(self):
        with multipy.InterpreterPoolExecutor(1) as own:
            running = own.submit(time.sleep, 600)
            cancelled, waiting, later = (own.submit(abs, -2, deadline=seconds) for seconds in (0.1, 0.2, 600))
            cancelled.cancel()
            with self.assertRaisesRegex(concurrent.futures.TimeoutError, "waited"):
                waiting.result(60)
            self.assertFalse(running.done())
            running.cancel(running=True)
            self.assertEqual(later.result(60), 2)
            self.assertTrue(cancelled.cancelled())

    def test_a_deadline_ends_a_task_that_waits_for_the_initializer(self):
        with tempfile.TemporaryDirectory() as folder:
            begun = pathlib.Path(folder, "begun")
            wait = f"import os, time\nwhile not os.path.exists({str(begun)!r}): time.sleep(0.01)"
            with multipy.InterpreterPoolExecutor(1, initializer=exec, initargs=(wait,), max_tasks_per_child=1) as own:
                for _ in "first", "replaced":
                    with self.assertRaisesRegex(concurrent.futures.TimeoutError, "waited"):
                        own.submit(abs, -2, deadline=0.2).result(60)
                    begun.touch()
                    self.assertEqual(own.submit(abs, -3).result(60), 3)
                    begun.unlink()
                begun.touch()

    def test_an_interpreter_is_replaced_after_so_many_tasks(self):
        with multipy.InterpreterPoolExecutor(1, max_tasks_per_child=2) as own:
            marked = "hasattr(__import__('math'), 'mark')"
            own.submit(exec, "import math; math.mark = 1").result(120)
            self.assertTrue(own.submit(eval, marked).result(120))
            self.assertFalse(own.submit(eval, marked).result(120))

    def test_the_initializer_runs_first_and_one_that_fails_breaks_the_pool(self):
        begin = "import math; math.begun = 5"
        with multipy.InterpreterPoolExecutor(1, initializer=exec, initargs=(begin,)) as own:
            self.assertEqual(own.submit(eval, "__import__('math').begun").result(120), 5)
        with self.assertLogs("concurrent.futures", "CRITICAL"):
            with multipy.InterpreterPoolExecutor(1, initializer=divmod, initargs=(1, 0)) as own:
                with self.assertRaises(concurrent.futures.thread.BrokenThreadPool):
                    own.submit(abs, 1).result(120)

    def test_bad_arguments_are_refused(self):
        for wrong in ({"max_workers": 0}, {"max_tasks_per_child": 0}):
            with self.assertRaises(ValueError):
                multipy.InterpreterPoolExecutor(**wrong)
        with self.assertRaises(TypeError):
            multipy.InterpreterPoolExecutor(initializer=1)

    def test_a_pool_that_was_shut_down_takes_nothing(self):
        own = multipy.InterpreterPoolExecutor(1)
        own.shutdown()
        with self.assertRaises(RuntimeError):
            own.submit(abs, 1)


class Processes(unittest.TestCase):
    """Programs of their own."""

    def run_program(self, text, status=0, options=(), **variables):
        done = subprocess.run(
            [sys.executable, "-B", *options, "-c", textwrap.dedent(text)],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout.strip()

    def test_importing_the_package_loads_nothing_heavy(self):
        found = self.run_program(
            """
            import sys, multipy
            print([name for name in ("torch", "numpy", "concurrent.futures", "multipy._host") if name in sys.modules])
            """
        )
        self.assertEqual(found, "[]")

    def test_the_flags_of_the_program_are_its_interpreters(self):
        look = """
            import multipy, sys
            flags = "[getattr(__import__('sys').flags, name) for name in ('optimize', 'bytes_warning', 'dev_mode', 'no_user_site')]"
            others = "(__import__('sys')._xoptions, sorted(__import__('sys').warnoptions))"
            with multipy.InterpreterPoolExecutor(1) as pool:
                for text in flags, others:
                    assert pool.submit(eval, text).result() == eval(text), (pool.submit(eval, text).result(), eval(text))
            with multipy.Pool(1, lambda: eval) as pool:
                assert pool(flags) == eval(flags)
        """
        for options in (), ("-OO", "-s"), ("-bb", "-Werror::UserWarning"), ("-Xdev", "-X", "utf8"):
            with self.subTest(options):
                self.run_program(look, options=options)

    def test_torch_before(self):
        self.run_program(
            """
            import torch, multipy
            with multipy.InterpreterPoolExecutor(2) as pool:
                x = torch.arange(6.0)
                assert torch.equal(pool.submit(torch.square, x).result(), x * x)
            y = torch.ones(3, requires_grad=True)
            y.sum().backward()
            assert y.grad.tolist() == [1, 1, 1]
            """
        )

    def test_the_programs_torch_is_left_alone_until_a_task_imports_torch(self):
        self.run_program(
            """
            import multipy, pathlib, sys
            def has_libtorch_python():
                return "libtorch_python" in pathlib.Path("/proc/self/maps").read_text()
            with multipy.InterpreterPoolExecutor(2) as pool:
                assert list(pool.map(abs, [-1, -2])) == [1, 2]
                assert not has_libtorch_python()
                assert pool.submit(eval, "__import__('torch').ones(2).sum().item()").result() == 2
                assert has_libtorch_python() and "torch" not in sys.modules
            """
        )

    def test_a_program_and_its_interpreters_import_torch_at_once(self):
        self.run_program(
            """
            import multipy, threading
            with multipy.InterpreterPoolExecutor(3) as pool:
                pool.submit(abs, -1).result()
                tasks = [pool.submit(eval, "__import__('torch').ones(2).sum().item()") for _ in range(3)]
                import torch
                assert [task.result() for task in tasks] == [2, 2, 2]
                layer = torch.nn.Linear(2, 2)
                layer(torch.ones(2)).sum().backward()
                assert layer.weight.grad is not None
                assert torch.empty(3, device="meta").cumsum(0).shape == (3,)
            """
        )

    def test_an_interpreter_that_imports_torch_when_it_starts(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sitecustomize.py").write_text("import torch")
            self.run_program(
                """
                import sys
                assert "torch" in sys.modules
                import multipy
                with multipy.InterpreterPoolExecutor(2) as pool:
                    assert pool.submit(eval, "__import__('sys').modules['torch'].ones(2).sum().item()").result() == 2
                """,
                PYTHONPATH=os.pathsep.join([folder, os.environ["PYTHONPATH"]]),
            )

    def test_an_operator_that_the_program_takes_back_is_gone_where_an_interpreter_has_it_too(self):
        self.run_program(
            """
            import torch, multipy
            mine = torch.library.Library("taken_back", "FRAGMENT")
            mine.define("twice(Tensor x) -> Tensor")
            define = "import torch; l = torch.library.Library('taken_back', 'FRAGMENT'); l.define('twice(Tensor x) -> Tensor')"
            with multipy.InterpreterPoolExecutor(1) as pool:
                assert not pool.submit(eval, "hasattr(__import__('torch').ops.taken_back, 'twice')").result()
                pool.submit(exec, define, {}).result()
                assert hasattr(torch.ops.taken_back, "twice")
                mine._destroy()
                assert not hasattr(torch.ops.taken_back, "twice")
                again = torch.library.Library("taken_back", "FRAGMENT")
                again.define("twice(Tensor x) -> Tensor")
                assert hasattr(torch.ops.taken_back, "twice")
            """
        )

    def test_torch_after(self):
        self.run_program(
            """
            import multipy
            with multipy.InterpreterPoolExecutor(2) as pool:
                assert pool.submit(eval, "__import__('torch').ones(3).sum().item()").result() == 3
                import torch
                assert torch.equal(pool.submit(torch.neg, torch.ones(2)).result(), -torch.ones(2))
            y = torch.ones(3, requires_grad=True)
            y.sum().backward()
            assert torch.jit.script(torch.nn.Linear(2, 2))(torch.ones(1, 2)).shape == (1, 2)
            """
        )

    def test_the_program_and_its_interpreters_profile_one_after_the_other(self):
        for torch_is_imported in "before", "after":
            with self.subTest(torch_is_imported):
                self.run_program(
                    f"""
                    import multipy
                    if {torch_is_imported == "before"}:
                        import torch.autograd.profiler
                    begin = "p = __import__('torch').autograd.profiler.profile(); p.__enter__()"
                    end = "p.__exit__(None, None, None)"
                    def refusal(what, *arguments):
                        try:
                            what(*arguments)
                        except RuntimeError as error:
                            return str(error)
                    with multipy.InterpreterPoolExecutor(1) as pool:
                        there = lambda code: pool.submit(exec, code, shared).result()
                        shared = {{}}
                        pool.submit(exec, "import torch").result()
                        import torch
                        for _ in range(2):
                            with torch.autograd.profiler.profile():
                                message = refusal(there, begin)
                                assert "the program's own Python of this process is profiling" in message, message
                            there("import builtins; " + begin + "; builtins.p = p")
                            message = refusal(torch.autograd.profiler.profile().__enter__)
                            assert "interpreter 0 of this process is profiling" in message, message
                            there(end)
                    """
                )

    def test_torch_comes_with_the_first_result_that_is_a_tensor(self):
        self.run_program(
            """
            import sys, multipy
            with multipy.InterpreterPoolExecutor(1) as pool:
                assert "torch" not in sys.modules
                assert pool.submit(eval, "__import__('torch').ones(3)").result().sum() == 3
            """
        )

    def test_a_program_ends_while_its_pool_is_open(self):
        self.run_program(
            """
            import multipy
            pool = multipy.InterpreterPoolExecutor(2)
            assert pool.submit(abs, -1).result() == 1
            """
        )

    def test_its_exit_status_is_its_own(self):
        self.run_program(
            """
            import sys, multipy
            pool = multipy.InterpreterPoolExecutor(1)
            pool.submit(abs, -1).result()
            sys.exit(7)
            """,
            status=7,
        )

    def test_a_forked_child_is_told_to_make_a_pool_of_its_own(self):
        self.run_program(
            """
            import os, multipy
            pool = multipy.InterpreterPoolExecutor(1)
            pool.submit(abs, -1).result()
            child = os.fork()
            if child == 0:
                try:
                    pool.submit(abs, -1)
                except RuntimeError as error:
                    os._exit(0 if "forked" in str(error) else 1)
                os._exit(2)
            assert os.waitpid(child, 0)[1] == 0
            assert pool.submit(abs, -2).result() == 2
            """
        )

    def test_functions_of_the_main_module(self):
        self.run_with_main("")

    def test_functions_of_the_main_module_without_cloudpickle(self):
        self.run_with_main("import sys; sys.modules.update({'cloudpickle': None, 'joblib': None})")

    def run_with_main(self, first):
        self.run_script(
            """
            import multipy

            def double(x):
                return 2 * x

            class Number:
                value = 5

            if __name__ == "__main__":
                %s
                with multipy.InterpreterPoolExecutor(2) as pool:
                    assert list(pool.map(double, range(4))) == [0, 2, 4, 6]
                    assert pool.submit(getattr, Number(), "value").result() == 5
            """
            % first
        )

    def test_what_a_task_assigns_in_the_main_module_stays_the_workers(self):
        program = """
            import functools, sys
            if "plain" in sys.argv:
                sys.modules.update({"cloudpickle": None, "joblib": None})
            import multipy

            model, calls, scale = None, 0, 1

            def load(name):
                global model
                model = name

            def predict(x):
                def count():
                    global calls
                    calls += 1
                    return calls
                return model, count(), x * scale

            class Model:
                def __call__(self):
                    return predict(1)

            @functools.lru_cache
            def loaded():
                global calls
                calls += 10
                return calls

            if __name__ == "__main__":
                with multipy.InterpreterPoolExecutor(1, initializer=load, initargs=("weights",)) as pool:
                    assert pool.submit(predict, 2).result() == ("weights", 1, 2)
                    assert pool.submit(predict, 2).result() == ("weights", 2, 2)
                    assert pool.submit(Model()).result() == ("weights", 3, 1)
                    assert pool.submit(loaded).result() == 13
                    if "plain" not in sys.argv:
                        scale = 10  # which no function assigns
                        assert pool.submit(predict, 2).result() == ("weights", 14, 20)
                        assert pool.submit(lambda: predict(3)).result() == ("weights", 15, 30)
                assert (model, calls) == (None, 0)
            """
        self.run_script(program)
        self.run_script(program, "plain")

    def test_an_initializer_gets_what_processes_inherit(self):
        program = """
            import multipy, multiprocessing, sys
            if "plain" in sys.argv:
                sys.modules.update({"cloudpickle": None, "joblib": None})

            def begin(*inherited):
                global lock, value, queue, event
                lock, value, queue, event = inherited

            def add(n):
                for _ in range(n):
                    with lock:
                        value.value += 1
                if event.is_set():
                    queue.put(n)

            if __name__ == "__main__":
                for method in "fork", "spawn":
                    context = multiprocessing.get_context(method)
                    lock, value = context.Lock(), context.Value("i", 0, lock=False)
                    queue, event = context.Queue(), context.Event()
                    inherited = lock, value, queue, event
                    with multipy.InterpreterPoolExecutor(2, initializer=begin, initargs=inherited, max_tasks_per_child=2) as pool:
                        list(pool.map(add, [1000] * 6))
                        event.set()
                        pool.submit(add, 5).result()
                        assert queue.get(timeout=60) == 5
                    assert value.value == 6005, value.value
                    try:
                        with multipy.InterpreterPoolExecutor(1) as pool: pool.submit(add, lock).result()
                    except RuntimeError as error:
                        assert "inheritance" in str(error), error
                    else:
                        raise AssertionError("a lock has crossed as an argument")
        """
        self.run_script(program)
        self.run_script(program, "plain")

    def test_an_initializer_assigns_what_the_main_module_does_not_have(self):
        program = """
            import sys
            if "plain" in sys.argv:
                sys.modules.update({"cloudpickle": None, "joblib": None})
            import multipy

            def begin(value):
                global model
                model = value

            def predict(x):
                return model + x

            if __name__ == "__main__":
                with multipy.InterpreterPoolExecutor(1, initializer=begin, initargs=(5,)) as pool:
                    assert list(pool.map(predict, range(3))) == [5, 6, 7]
        """
        self.run_script(program)
        self.run_script(program, "plain")

    def test_classes_of_the_main_module_keep_their_slots(self):
        self.run_script(
            """
            import dataclasses, typing
            import multipy

            class Plain:
                __slots__ = "a", "__hidden"
                def __init__(self): self.a, self.__hidden = 1, [2]
                def state(self): return self.a, self.__hidden
            class Derived(Plain):
                __slots__ = "b"
                def __init__(self): super().__init__(); self.b = 3
                def state(self): return *super().state(), self.b
            @dataclasses.dataclass(frozen=True, slots=True)
            class Data:
                x: int = 1
                def state(self): return self.x
            class Open(Plain):
                def state(self): return self.__dict__
            class Named(typing.NamedTuple):
                x: int = 1
                def state(self): return self.x

            def same(value):
                return value, value.state(), hasattr(value, "__dict__")

            if __name__ == "__main__":
                with multipy.InterpreterPoolExecutor(1) as pool:
                    for kind in Plain, Derived, Data, Open, Named:
                        value, state, has_dict = pool.submit(same, kind()).result()
                        assert type(value) is kind
                        assert value.state() == state == kind().state(), kind
                        assert has_dict is hasattr(kind(), "__dict__"), kind
            """
        )

    def test_what_cannot_be_taken_by_value_is_the_main_modules_in_an_interpreter(self):
        self.run_script(
            """
            import contextvars, enum, functools, threading
            import multipy

            lock, local, context = threading.Lock(), threading.local(), contextvars.ContextVar("context", default=3)

            def locked(x):
                with lock:
                    local.x = x
                    return local.x + context.get()

            @functools.singledispatch
            def show(x): return "any"
            @show.register
            def _(x: int): return "int"

            class Planet(enum.Enum):
                EARTH = (5.976e24, 6.37e6)
                def __init__(self, mass, radius): self.mass, self.radius = mass, radius
                def gravity(self): return 6.673e-11 * self.mass / self.radius**2

            class Plugin:
                known = {}
                def __init_subclass__(cls, *, key):
                    assert key not in Plugin.known
                    Plugin.known[key] = cls
            class First(Plugin, key="first"):
                def __call__(self): return sorted(Plugin.known)

            class Meta(type):
                made = []
                def __init__(cls, *args):
                    Meta.made.append(cls.__name__)
            class Made(metaclass=Meta):
                def names(self): return Meta.made

            class Holder:
                guard = threading.Lock()
                def use(self):
                    with self.guard:
                        return type(self).__qualname__

            def call(method, *arguments): return method(*arguments)

            if __name__ == "__main__":
                with multipy.InterpreterPoolExecutor(1) as pool:
                    for _ in range(2):
                        assert pool.submit(locked, 1).result() == 4
                        assert pool.submit(show, 1).result() == "int"
                        assert abs(pool.submit(Planet.EARTH.gravity).result() - 9.8) < 0.1
                        assert pool.submit(Planet, (5.976e24, 6.37e6)).result() is Planet.EARTH
                        assert pool.submit(First()).result() == ["first"]
                        assert pool.submit(Made().names).result() == ["Made"]
                        assert pool.submit(Holder().use).result() == "Holder"
                        assert pool.submit(call, lambda: Planet.EARTH.mass).result() == 5.976e24
            """
        )

    def test_what_cannot_be_pickled_in_a_script_that_cannot_be_run_again_is_said(self):
        self.run_script(
            """
            import threading
            import multipy
            lock = threading.Lock()
            def locked():
                with lock: return 1
            with multipy.InterpreterPoolExecutor(1) as pool:
                assert "lock" in str(pool.submit(locked).exception())
            """
        )

    def test_objects_of_the_main_modules_classes_are_pickled_in_tasks(self):
        self.run_script(
            """
            import dataclasses, pickle, typing
            import multipy

            class Outer:
                class Inner: pass
            @dataclasses.dataclass
            class Result:
                a: int = 1
                next: "Result | None" = None

            def pickled(value):
                assert typing.get_type_hints(type(value))["a"] is int
                assert pickle.loads(pickle.dumps(value)) == value
                return pickle.dumps(value)
            def name(value): return type(value).__qualname__

            class Counter:
                count = 0
                def step(self): type(self).count += 1

            def step(counter):
                counter.step()
                return counter

            if __name__ == "__main__":
                with multipy.InterpreterPoolExecutor(1) as pool:
                    assert pickle.loads(pool.submit(pickled, Result(2)).result()) == Result(2)
                    assert pool.submit(name, Outer.Inner()).result() == "Outer.Inner"
                    assert type(pool.submit(step, Counter()).result()) is Counter and Counter.count == 0
            """
        )

    def test_functions_of_the_main_module_come_back_as_themselves_and_are_pickled_in_tasks(self):
        program = """
            import functools, pickle, sys
            import multipy

            def wrapped(function):
                @functools.wraps(function)
                def inner(*arguments): return function(*arguments)
                return inner
            def helper(x): return x + 1
            @wrapped
            def decorated(x): return x * 3
            class Holder:
                def __init__(self, function): self.function = function
                @staticmethod
                def static(): pass
                @classmethod
                def of_class(cls): pass
            if "run" in sys.argv:
                class Hooked:
                    def __init_subclass__(cls): pass

            def call(*functions): return {function: function(1) for function in functions}
            def used(): return helper, functools.partial(decorated, 2), Holder.static, Holder.of_class
            def pickled(value): return pickle.dumps((value, helper, pickled, decorated))
            def run_main(): return Hooked

            if __name__ == "__main__":
                with multipy.InterpreterPoolExecutor(1) as pool:
                    if "run" in sys.argv: pool.submit(run_main).result()
                    for _ in range(2):
                        assert pool.submit(call, helper, decorated).result() == {helper: 2, decorated: 3}
                        first, second, third, fourth = pool.submit(used).result()
                        assert first is helper and second.func is decorated and third is Holder.static
                        assert fourth.__func__ is Holder.of_class.__func__
                        holder, *functions = pickle.loads(pool.submit(pickled, Holder(call)).result())
                        assert holder.function is call and functions == [helper, pickled, decorated]
                        other = pool.submit(lambda: lambda: helper(4)).result()
                        assert other() == 5
            """
        self.run_script(program)
        self.run_script(program, "run")

    def test_names_of_the_main_module_that_only_strings_say_are_found_in_tasks(self):
        program = """
            from __future__ import annotations
            import dataclasses, sys, typing
            import multipy

            Items = typing.List["Item"]
            @dataclasses.dataclass
            class Item:
                name: str
            @dataclasses.dataclass
            class Order:
                items: Items
                next: Order | None = None
                def first(self) -> Item: return self.items[0]
            def helper(x: Item) -> Order: return x + 1
            table = {"a": 1}

            def hints(function=helper):
                of_class, of_method = typing.get_type_hints(Order), typing.get_type_hints(Order.first)
                assert typing.get_args(of_class["items"]) == (of_method["return"],)
                return sorted([*of_class, *of_method, *typing.get_type_hints(function)])
            def by_globals(name): return globals()[name](1)
            def in_another_function(name): return (lambda: globals()[name](1))()
            def by_module(name): return getattr(sys.modules[__name__], name)(1)
            def by_main(name):
                import __main__
                return getattr(__main__, name)(1)
            def by_eval(name): return eval(name)(1)
            def by_exec(name):
                names = {}
                exec(f"x = {name}(1)", globals(), names)
                return names["x"]
            def by_a_string(name): return eval("table['a']") + 1
            class Caller:
                def call(self, name): return globals()[name](1)

            if __name__ == "__main__":
                with multipy.InterpreterPoolExecutor(1) as pool:
                    def use(*call): return pool.submit(*call).result()  # which cannot be pickled
                    assert use(hints) == ["items", "next", "return", "return", "x"]
                    for function in by_globals, in_another_function, by_module, by_main, by_eval, by_exec, by_a_string, Caller().call:
                        with multipy.InterpreterPoolExecutor(1) as other:
                            assert other.submit(function, "helper").result() == 2, function
                        assert use(function, "helper") == 2, function
                    def helper(x): return "another"
                    assert use(by_globals, "helper") == "another"
            """
        self.run_script(program)

    def test_threads_of_tasks_are_waited_for_and_workers_are_told_apart(self):
        self.run_script(
            """
            import os, sys, tempfile, threading, time
            import multipy

            def write(file):
                time.sleep(0.5)
                with open(file, "w") as out: out.write("written")
            def begin(file):
                threading.Thread(target=write, args=(file,)).start()
                import multiprocessing
                process = multiprocessing.current_process()
                return threading.current_thread().name, process.name, process._identity

            if __name__ == "__main__":
                with tempfile.TemporaryDirectory() as folder:
                    file = os.path.join(folder, "file")
                    with multipy.InterpreterPoolExecutor(1, "mine") as pool:
                        assert pool.submit(begin, file).result() == ("mine_0", "InterpreterPoolWorker-1", (1,))
                    assert open(file).read() == "written"
            """
        )

    def test_tasks_use_the_programs_resource_tracker(self):
        self.run_script(
            """
            import os
            from multiprocessing import shared_memory
            import multipy

            def read(name):
                memory = shared_memory.SharedMemory(name=name)
                try: return memory.buf[0]
                finally: memory.close()
            def children():
                return open(f"/proc/self/task/{os.getpid()}/children").read().split()

            if __name__ == "__main__":
                memory = shared_memory.SharedMemory(create=True, size=8)
                memory.buf[0] = 9
                before = children()
                with multipy.InterpreterPoolExecutor(1) as pool:
                    assert pool.submit(read, memory.name).result() == 9
                    assert children() == before
                memory.close()
                memory.unlink()
            """
        )

    def test_ctrl_c_ends_the_tasks_of_a_pool_in_a_with_statement(self):
        self.run_script(
            """
            import concurrent.futures, os, signal, threading, time
            import multipy

            def wait():
                for _ in range(6000): time.sleep(0.01)

            if __name__ == "__main__":
                began = time.monotonic()
                try:
                    with multipy.InterpreterPoolExecutor(1) as pool:
                        tasks = [pool.submit(wait) for _ in range(3)]
                        threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
                        tasks[0].result()
                except KeyboardInterrupt:
                    assert time.monotonic() - began < 50
                try: tasks[0].result()
                except concurrent.futures.CancelledError: pass
                assert all(task.cancelled() for task in tasks[1:])
            """
        )

    def test_code_of_the_main_module_has_its_file(self):
        self.run_script(
            """
            import inspect
            import multipy

            def fail():
                return 1 // 0  # here

            if __name__ == "__main__":
                with multipy.InterpreterPoolExecutor(1) as pool:
                    assert "# here" in pool.submit(lambda: inspect.getsource(fail)).result()
                    assert "# here" in str(pool.submit(fail).exception().__cause__)
            """
        )

    def test_what_a_function_of_the_main_module_uses_goes_to_an_interpreter_once(self):
        self.run_script(
            """
            import functools
            import multipy

            class Table:
                sent = 0
                def __init__(self, values): self.values = values
                def __reduce__(self):
                    Table.sent += 1
                    return Table, (self.values,)
            table, cache, factor = Table([1, 2, 3]), {}, 1

            def helper(i): return table.values[i] * factor
            def look(i):
                is_new = i not in cache
                cache[i] = helper(i)
                return cache[i], is_new

            if __name__ == "__main__":
                with multipy.InterpreterPoolExecutor(1) as pool:
                    before = Table.sent
                    assert pool.submit(look, 1).result() == (2, True)
                    for _ in range(5):
                        assert pool.submit(look, 1).result() == (2, False)
                    assert list(pool.map(look, [0, 1, 2])) == [(1, True), (2, False), (3, True)]
                    assert Table.sent == before + 1, Table.sent
                    # What is bound anew goes there with it, and nothing else.
                    factor = 10
                    assert pool.submit(look, 1).result() == (20, False)
                    assert Table.sent == before + 1, Table.sent
                    table = Table([4, 5, 6])
                    assert pool.submit(look, 1).result() == (50, False)
                    def helper(i): return "another"
                    assert pool.submit(look, 1).result() == ("another", False)
                    before = Table.sent
                    assert list(pool.map(lambda i: table.values[i], [0, 1, 2] * 10, chunksize=2)) == [4, 5, 6] * 10
                    assert Table.sent == before, Table.sent
                    alone = Table([4, 5, 6])
                    before = Table.sent
                    assert list(pool.map(lambda i: alone.values[i], [0, 1, 2] * 10, chunksize=2)) == [4, 5, 6] * 10
                    assert Table.sent == before + 1, Table.sent
                    # More functions than an interpreter keeps, over and over; one that is used stays.
                    for i in range(40):
                        exec(f"def numbered_{i}(): return {i}")
                    for _ in range(2):
                        for i in range(40):
                            assert pool.submit(globals()[f"numbered_{i}"]).result() == i
                            assert list(pool.map(lambda x: x + i, [1])) == [1 + i]
                            assert pool.submit(look, 3).result() == ("another", i == _ == 0)
                with multipy.InterpreterPoolExecutor(1, max_tasks_per_child=2) as pool:
                    assert [pool.submit(look, 2).result() for _ in range(3)] == [("another", True), ("another", False), ("another", True)]
            """
        )

    def test_what_variables_of_the_main_module_were_bound_to_goes(self):
        self.run_script(
            """
            import gc, weakref
            import multipy

            class Large: pass
            large = Large()
            def use(): return type(large).__name__

            if __name__ == "__main__":
                known = weakref.ref(large)
                with multipy.InterpreterPoolExecutor(1) as pool:
                    assert pool.submit(use).result() == "Large"
                    large = None
                    assert pool.submit(use).result() == "NoneType"
                    gc.collect()
                    assert known() is None, gc.get_referrers(known())
            """
        )

    def test_what_functions_of_the_main_module_change_in_place_is_one_object_for_all_of_them(self):
        program = """
            import functools, sys, types
            if "plain" in sys.argv:
                sys.modules.update({"cloudpickle": None, "joblib": None})
            import multipy

            table, items, names = {}, [], types.SimpleNamespace()
            other = {"table": table}
            nothing = object()
            class Holder:
                value = None
                def __init__(self): self.own = None
                def look(self): return table["x"], self.own
                @classmethod
                def set(cls, value): cls.value = value
            holder = Holder()

            def begin(value):
                table["x"] = names.x = Holder.value = holder.own = value
                items.append(value)
            def look(): return table["x"], other["table"]["x"], items, names.x, Holder.value, holder.own
            def through_another(): return look()
            def count():
                table["calls"] = table.get("calls", 0) + 1
                return table["calls"]
            def count_again(): return count()
            def is_nothing(value=nothing): return value is nothing
            def is_nothing_too(value=nothing): return value is nothing

            if __name__ == "__main__":
                new = multipy.InterpreterPoolExecutor
                for how in {}, {"copy": True}, {"max_tasks_per_child": 1}:
                    for initializer in (begin, (5,)), (functools.partial(begin, 5), ()):
                        with new(1, initializer=initializer[0], initargs=initializer[1], **how) as pool:
                            for function in look, through_another, look:
                                assert pool.submit(function).result() == (5, 5, [5], 5, 5, 5), function
                            assert list(pool.map(functools.partial(divmod, 7), [5])) == [(1, 2)]
                            assert pool.submit(Holder().look).result() == (5, None)
                            expected = [1] * 3 if "max_tasks_per_child" in how else [1, 2, 3]
                            assert [pool.submit(each).result() for each in (count, count_again, count)] == expected
                            if "plain" not in sys.argv:
                                assert pool.submit(lambda: table["x"]).result() == 5
                                assert list(pool.map(lambda i: table["x"] + i, range(3), chunksize=2)) == [5, 6, 7]
                assert (table, items, Holder.value) == ({}, [], None)
                with new(1) as pool:
                    assert pool.submit(is_nothing).result() and pool.submit(is_nothing_too).result()
                if "plain" in sys.argv: sys.exit()
                with new(1, initializer=begin, initargs=(5,)) as pool:
                    table["later"] = 1  # before there is an interpreter
                    assert pool.submit(lambda: sorted(table)).result() == ["later", "x"]
                    # An argument is what it is here.
                    assert pool.submit(sorted, table).result() == pool.submit(lambda x: sorted(x), table).result() == ["later"]
                    # What the program binds or sets anew is there, too.
                    table = {"x": 6}
                    assert pool.submit(look).result() == (6, 5, [5], 5, 5, 5)
                    Holder.value = 7
                    assert pool.submit(look).result() == (6, 5, [5], 5, 7, 5)
                    assert pool.submit(Holder().look).result() == (6, None)
                    table = {"x": 8}
                    assert pool.submit(Holder().look).result() == (8, None)
                    for i in range(5):
                        table = {"x": i}
                        assert pool.submit(look).result()[0] == i
                    assert pool.submit(eval, "len(__import__('sys').modules['_multipy_by_value']._groups)").result() == 3
            """
        self.run_script(program)
        self.run_script(program, "plain")

    def test_what_the_main_module_defines_anew_counts(self):
        self.run_script(
            """
            import multipy
            count = 0
            def step():
                global count
                count += 1
                return helper(count)
            def helper(n):
                return n
            if __name__ == "__main__":
                with multipy.InterpreterPoolExecutor(1) as pool:
                    assert pool.submit(step).result() == 1
                    def helper(n):
                        return -n
                    assert pool.submit(step).result() == -2
            """
        )

    def run_script(self, text, *arguments):
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"multipy-main-{os.getpid()}.py")
        with open(path, "w") as file:
            file.write(textwrap.dedent(text))
        self.addCleanup(lambda: os.path.exists(path) and os.remove(path))
        done = subprocess.run([sys.executable, "-B", path, *arguments], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_arguments_and_paths_of_any_kind(self):
        program = """
            import os, pathlib, sys
            sys.path += [pathlib.Path("/no/such"), None]
            import multipy

            def make():
                return lambda: sys.argv[1:]

            if __name__ == "__main__":
                given = [os.fsdecode(b"caf\\xe9")]
                assert sys.argv[1:] == given, sys.argv
                with multipy.InterpreterPoolExecutor(1) as pool, multipy.Pool(1, make) as model:
                    assert pool.submit(eval, "__import__('sys').argv[1:]").result() == given == model()
                sys.argv = ["x", 3]
                with multipy.InterpreterPoolExecutor(1) as pool:
                    assert pool.submit(eval, "__import__('sys').argv").result() == ["x", "3"]
                del sys.argv
                with multipy.InterpreterPoolExecutor(1) as pool:
                    assert pool.submit(eval, "__import__('sys').argv").result() == [""]
            """
        self.run_script(program, b"caf\xe9")

    def test_what_a_manager_of_multiprocessing_has_is_used_in_tasks(self):
        program = """
            import multiprocessing
            import multipy

            def first(queues):
                queues[0].put(7)
                return queues[0]

            def make():
                return first

            if __name__ == "__main__":
                context = multiprocessing.get_context("spawn")
                with context.Manager() as manager, multipy.InterpreterPoolExecutor(1) as pool:
                    queues = manager.list()
                    queues.append(manager.Queue())
                    queue = pool.submit(first, queues).result()
                    assert queue.get() == 7
                    with multipy.Pool(1, make) as model:
                        assert model(queues).get() == 7
            """
        self.run_script(program)

    def test_what_is_defined_in_the_main_module_comes_back(self):
        program = """
            import collections, dataclasses, enum, sys
            if "plain" in sys.argv:
                sys.modules.update({"cloudpickle": None, "joblib": None})
            import multipy

            @dataclasses.dataclass
            class Point:
                x: int
            class Color(enum.Enum):
                RED = 1
            Pair = collections.namedtuple("Pair", "a b")
            class Refused(Exception):
                pass

            def make(name):
                if name == "raise":
                    raise Refused("no")
                return {"point": Point(3), "color": Color.RED, "pair": Pair(1, 2)}[name]

            def maker():
                return make

            if __name__ == "__main__":
                with multipy.InterpreterPoolExecutor(1) as pool, multipy.Pool(1, maker) as model:
                    for call in (lambda name: pool.submit(make, name).result()), model:
                        assert call("point") == Point(3) and call("color") is Color.RED and call("pair") == Pair(1, 2)
                        try:
                            call("raise")
                        except Refused as error:
                            assert str(error) == "no"
            """
        self.run_script(program)
        self.run_script(program, "plain")

    def test_a_torch_that_it_was_not_built_for_is_refused_before_it_is_loaded(self):
        with tempfile.TemporaryDirectory() as place:
            os.mkdir(os.path.join(place, "torch"))
            for name, text in ("__init__.py", "raise SystemExit(9)"), ("version.py", "__version__ = '2.99.0+cpu'\n"):
                with open(os.path.join(place, "torch", name), "w") as file:
                    file.write(text)
            said = self.run_program(
                f"""
                import sys
                sys.path.insert(0, {place!r})
                import multipy
                for make in multipy.InterpreterPoolExecutor, lambda: multipy.Pool(1, "a:b"), multipy.dataloader_context:
                    try:
                        make()
                    except ImportError as error:
                        print("with torch 2.99.0+cpu: install a wheel for this pair" in str(error))
                """
            )
        self.assertEqual(said.split(), ["True"] * 3)

    def test_no_pool_is_made_in_a_task(self):
        self.run_program(
            """
            import multipy
            with multipy.InterpreterPoolExecutor(1) as pool:
                try:
                    pool.submit(eval, "__import__('multipy').InterpreterPoolExecutor(1)").result()
                except (AttributeError, RuntimeError):
                    pass
                else:
                    raise SystemExit("made")
            """
        )


if __name__ == "__main__":
    unittest.main(verbosity=2)
