"""multipy.Pool, as an ordinary Python program uses it."""

import asyncio
import collections
import concurrent.futures
import contextlib
import gc
import os
import pathlib
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
import torch

import multipy

MODELS = """
import time
import torch

def linear(weights):
    layer = torch.nn.Linear(4, 2)
    layer.load_state_dict(weights, assign=True)
    return layer.requires_grad_(False)

def first_address():
    return lambda tensor: tensor.data_ptr()

def echo():
    def call(*arguments, **keywords):
        return (arguments, keywords) if keywords or len(arguments) != 1 else arguments[0]
    return call

def echo_without_pickles():
    import _multipy_inside
    def refuse(*_, **__):
        raise AssertionError("a result is pickled")
    _multipy_inside.pickle_of = refuse
    kept = []
    def call(*arguments, **keywords):
        kept[:] = (keywords, arguments) if keywords or len(arguments) != 1 else arguments
        assert not any(type(each) is complex for each in kept)
        return tuple(kept) if len(kept) > 1 else kept[0]
    return call

def list_of_array():
    import numpy
    kept = [numpy.ones(3), {"a": numpy.zeros(2)}]
    def call(_):
        assert type(kept[0]) is type(kept[1]["a"]) is numpy.ndarray
        return kept
    return call

def are_one():
    return lambda first, second: first is second

def divide():
    return lambda a, b: a / b

def keep_first():
    kept = []
    def call(array):
        kept.append(array)
        return kept[0]
    return call

def wait():
    return time.sleep

def ones():
    import numpy
    return numpy.ones

def tagged(tag):
    return lambda: tag

def none():
    return None

def broken():
    raise LookupError("no weights here")
"""


def setUpModule():
    global folder
    folder = tempfile.TemporaryDirectory()
    pathlib.Path(folder.name, "pool_models.py").write_text(MODELS)
    sys.path.insert(0, folder.name)


def tearDownModule():
    sys.path.remove(folder.name)
    folder.cleanup()


class OnePool(unittest.TestCase):
    """Of one pool, which each test gives its model."""

    @classmethod
    def setUpClass(cls):
        cls.pool = multipy.Pool(2, "pool_models:echo")

    @classmethod
    def tearDownClass(cls):
        cls.pool.close()

    def model(self, name, *args):
        self.pool.reload(f"pool_models:{name}", args=args)
        return self.pool


class Calls(OnePool):
    def test_weights_are_there_once(self):
        layer = torch.nn.Linear(4, 2)
        pool = self.model("linear", layer.state_dict())
        x = torch.randn(3, 4)
        self.assertTrue(torch.equal(pool(x), layer(x)))
        with torch.no_grad():
            layer.weight.zero_()
        self.assertTrue(torch.equal(pool(x), layer(x)))

    def test_values_arrive_as_they_are(self):
        pool = self.model("echo")
        numbers = [True, 1, -(2**63), 2**63, 2**70, 1.5]
        texts = ["plain", "\xe4\u20ac", "\ud800", b"\0"]
        for value in [None, *numbers, *texts, (1, (2,)), [1], {"a": 1}]:
            self.assertEqual(pool(value), value)
            self.assertIs(type(pool(value)), type(value))
        self.assertEqual(pool(1, "a", key=2), ((1, "a"), {"key": 2}))

    def test_small_tuples_lists_and_dicts_are_not_pickled(self):
        pool = self.model("echo")
        tensor = torch.zeros(3)
        values = [(), (1, (2.5, None)), [], [True, "a", [tensor]], {}, {"z": tensor, "a": [1, {"b": ()}]}, [1, 2], ["a"]]
        with unittest.mock.patch("multipy._pool.crossing.pickle_of", side_effect=AssertionError):
            for value in values:
                self.assertEqual(repr(pool(value)), repr(value))
                self.assertEqual(repr(pool.submit(value).result()), repr(value))
            self.assertEqual(pool(input_ids=tensor)[1]["input_ids"].data_ptr(), tensor.data_ptr())
        self.assertEqual(list(pool({"b": 1, "a": 2})), ["b", "a"])

    def test_what_a_copy_would_tell_is_pickled(self):
        pool = self.model("echo")
        tensor = torch.zeros(2)
        for first, second in (pool(tensor, tensor)[0], pool([tensor, tensor])):
            self.assertIs(first, second)
        self.assertTrue(self.model("are_one")(tensor, tensor))
        self.assertTrue(self.model("are_one")(tensor, second=tensor))
        pool = self.model("echo")
        inner, circle, many = [1], [], [[i] for i in range(300)]
        circle.append(circle)
        first, second = pool([inner, inner])
        self.assertIs(first, second)
        again = pool(circle)
        self.assertIs(again[0], again)
        self.assertEqual(pool(many), many)
        for value in (collections.OrderedDict(a=1), {1: 2}, {"\ud800": 1}, [2**70], (b"a",), {(1,): 2}):
            self.assertEqual(pool(value), value)
            self.assertIs(type(pool(value)), type(value))
        deep = ()
        for _ in range(200):
            deep = (deep,)
        self.assertEqual(pool(deep), deep)

    def test_tensors_cross_by_reference(self):
        tensor = torch.zeros(3)
        self.assertEqual(self.model("first_address")(tensor), tensor.data_ptr())
        self.assertEqual(self.model("echo")(tensor).data_ptr(), tensor.data_ptr())

    def test_a_tensors_own_attributes_cross(self):
        tensor = torch.zeros(3)
        tensor.note = "mine"
        self.assertEqual(self.model("echo")(tensor).note, "mine")

    def test_a_tensor_with_a_graph_is_refused(self):
        with self.assertRaisesRegex(RuntimeError, "detach"):
            self.model("echo")(torch.ones(1, requires_grad=True) * 2)

    def test_arrays_cross_by_reference_and_results_outlive_the_pool(self):
        array = np.arange(5.0)
        result = self.model("echo")(array)
        self.assertTrue(np.shares_memory(array, result))
        with multipy.Pool(2, "pool_models:ones") as pool:
            result = pool(1000)
        gc.collect()
        self.assertEqual(result.sum(), 1000)
        result[:] = 2
        self.assertEqual(result.sum(), 2000)

    def test_plain_arrays_are_not_pickled(self):
        read_only = np.arange(4)
        read_only.flags.writeable = False
        arrays = [np.array([0, 1, 2]).astype(kind) for kind in "?bBhHiIlLqQefd"]
        arrays += [np.array(2.5), np.arange(24).reshape(2, 3, 4), np.arange(6)[2:], read_only]
        refused = unittest.mock.patch("multipy._pool.crossing.pickle_of", side_effect=AssertionError)
        with multipy.Pool(1, "pool_models:echo_without_pickles") as pool, refused:
            for array in arrays:
                for result in pool(array), pool.submit(array).result():
                    self.assertEqual(repr(result), repr(array))
                    self.assertEqual(result.dtype, array.dtype)
                    self.assertEqual(result.flags.writeable, array.flags.writeable)
                    self.assertEqual(result.ctypes.data, array.ctypes.data)
            one, two, three, tensor = *arrays[-3:], torch.ones(2)
            for value in [one], (two, (one,)), {"a": one, "b": [1.5, two, {"c": three}], "d": tensor}, [tensor, one]:
                before = repr(value)
                self.assertEqual(repr(pool(value)), before)
                self.assertEqual(repr(pool(1, "a", key=value)), repr(({"key": value}, (1, "a"))))
                self.assertEqual(repr(value), before)

    def test_a_list_of_arrays_that_the_model_keeps_stays_its_own(self):
        pool = self.model("list_of_array")
        for _ in range(4):
            self.assertEqual(repr(pool(0)), "[array([1., 1., 1.]), {'a': array([0., 0.])}]")

    def test_other_arrays_arrive_as_they_are(self):
        pool = self.model("echo")
        tagged = np.zeros(2, np.dtype("f8", metadata={"unit": "m"}))
        order = np.arange(6).reshape(2, 3).T
        kinds = [">i4", "F", "M8[s]", "U3", "S3", "i4,f8", "V3"]
        others = [np.arange(6)[::2], np.zeros((0, 3)), np.array([[], None], object), np.float32(1), tagged, order]
        for array in [np.zeros(2, kind) for kind in kinds] + others:
            for result in pool(array), pool(key=array)[1]["key"]:
                self.assertEqual(repr(result), repr(array))
                self.assertIs(type(result), type(array))
                self.assertEqual(result.dtype, array.dtype)
                # (Of some types older numpys have an empty one where there was none.)
                self.assertEqual(result.dtype.metadata or None, array.dtype.metadata or None)
                self.assertEqual(result.flags.f_contiguous, array.flags.f_contiguous or not array.flags.contiguous)
        first, second = pool(order, order)[0]
        self.assertIs(first, second)
        array = np.zeros(2)
        self.assertTrue(self.model("are_one")(array, array))

    def test_an_array_that_is_kept_there_keeps_the_programs(self):
        class Memory(np.ndarray):
            pass

        whole = Memory(1000)
        whole[:] = 1
        ended = weakref.ref(whole)
        with multipy.Pool(1, "pool_models:keep_first") as pool:
            pool(whole.view(np.ndarray))
            del whole
            gc.collect()
            self.assertIsNotNone(ended())
            self.assertEqual(pool(np.zeros(1)).sum(), 1000)
            pool.reload("pool_models:echo")
            pool(0)
            while ended() is not None:
                pool(gc.collect())

    def test_results_of_an_interpreter_that_has_been_replaced_stay(self):
        pool = self.model("ones")
        results = [pool(1000) for _ in range(4)]
        for each in pool.stats()["interpreters"]:
            if each["state"] == "serving":
                pool.replace(each["interpreter"])
        self.assertEqual([result.sum() for result in results + [pool(1000)]], [1000] * 5)

    def test_what_the_model_raises_arrives_as_itself(self):
        pool = self.model("divide")
        with self.assertRaises(ZeroDivisionError) as raised:
            pool(1, 0)
        self.assertIn("pool_models.py", str(raised.exception.__cause__))
        with self.assertRaises(ZeroDivisionError):
            pool.submit(1, 0).result(60)
        self.assertEqual(pool(6, 3), 2)

    def test_many_threads_at_once(self):
        pool = self.model("echo")
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            self.assertEqual(list(threads.map(pool, range(2000))), list(range(2000)))
            arrays = list(threads.map(pool, [np.full(10, i) for i in range(200)]))
        self.assertEqual([each[0] for each in arrays], list(range(200)))

    def test_two_calls_run_at_once(self):
        pool = self.model("wait")
        calls = [pool.submit(60) for _ in range(2)]
        while sum(each["running"] for each in pool.stats()["interpreters"]) < 2:
            self.assertFalse(any(call.done() for call in calls))
            time.sleep(0.01)
        for call in calls:
            call.cancel()


class Asynchronous(OnePool):
    def test_asyncio_awaits_it(self):
        pool = self.model("echo")

        async def ask():
            return await asyncio.gather(*(pool.acall(i) for i in range(100)))

        self.assertEqual(asyncio.run(ask()), list(range(100)))

    def test_a_task_that_is_cancelled_interrupts_its_call(self):
        pool = self.model("wait")

        async def ask():
            task = asyncio.ensure_future(pool.acall(60))
            await asyncio.sleep(0.2)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        began = time.monotonic()
        asyncio.run(ask())
        self.assertLess(time.monotonic() - began, 30)

    def test_map_keeps_the_order_and_takes_no_more_than_it_needs(self):
        pool = self.model("echo")
        taken = []

        def numbers():
            for number in range(100):
                taken.append(number)
                yield number

        results = pool.map(numbers(), buffersize=4)
        self.assertEqual(next(results), 0)
        self.assertLessEqual(len(taken), 6)
        self.assertEqual(list(results), list(range(1, 100)))

    def test_a_future_is_cancelled(self):
        future = self.model("wait").submit(60)
        self.assertTrue(future.cancel())
        with self.assertRaises(concurrent.futures.CancelledError):
            future.result(60)


class Limits(OnePool):
    def test_a_deadline_ends_a_call(self):
        pool = self.model("wait")
        with self.assertRaisesRegex(concurrent.futures.TimeoutError, "deadline"):
            pool(60, deadline=0.1)
        with self.assertRaisesRegex(concurrent.futures.TimeoutError, "deadline"):
            pool.submit(60, deadline=0.1).result(60)
        self.assertIsNone(pool(0, deadline=60))

    def test_a_deadline_may_pass_while_a_result_is_handed_over(self):
        with multipy.Pool(1, "pool_models:ones") as pool:
            began = time.perf_counter()
            for _ in range(1000):
                pool(4)
            usual = (time.perf_counter() - began) / 1000
            for i in range(30000):
                with contextlib.suppress(TimeoutError, concurrent.futures.TimeoutError):
                    self.assertEqual(pool(4, deadline=usual * i / 15000).sum(), 4)

    def test_a_line_that_is_full_refuses_calls(self):
        with multipy.Pool(1, "pool_models:wait", max_waiting=0) as pool:
            running = pool.submit(60)
            while not pool.stats()["interpreters"][0]["running"]:
                time.sleep(0.01)
            with self.assertRaises(multipy.QueueFull):
                for _ in range(100):
                    pool.submit(0)
            running.cancel()

    def test_interpreters_are_replaced_after_calls(self):
        with multipy.Pool(1, "pool_models:echo", replace_after_calls=20) as pool:
            for _ in range(600):
                pool(1)
                if pool.stats()["replacements"]["calls"]:
                    break
                time.sleep(0.05)
            self.assertGreater(pool.stats()["replacements"]["calls"], 0)
            self.assertEqual(pool(3), 3)


class Operations(OnePool):
    def test_another_model_takes_its_place_while_calls_go_on(self):
        pool = self.model("tagged", "old")
        seen, stop = set(), threading.Event()

        def ask():
            while not stop.is_set():
                seen.add(pool())

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for each in threads:
            each.start()
        self.model("tagged", "new")
        self.assertEqual(pool(), "new")
        stop.set()
        for each in threads:
            each.join()
        self.assertEqual(seen | {"new"}, {"old", "new"})

    def test_a_model_that_cannot_be_made_leaves_everything_as_it_was(self):
        pool = self.model("tagged", "old")
        with self.assertRaisesRegex(LookupError, "no weights here") as raised:
            self.model("broken")
        self.assertIn("pool_models.py", str(raised.exception.__cause__))
        with self.assertRaisesRegex(TypeError, "must be callable"):
            self.model("none")
        with self.assertRaises(ModuleNotFoundError):
            pool.reload("no_such_module:at_all")
        self.assertEqual(pool(), "old")

    def test_it_is_resized(self):
        pool = self.model("echo")
        for workers in 3, 1, 2:
            pool.resize(workers)
            self.assertEqual([pool(i) for i in range(20)], list(range(20)))
            serving = [each for each in pool.stats()["interpreters"] if each["state"] == "serving"]
            self.assertEqual(len(serving), workers)

    def test_it_says_how_it_is(self):
        pool = self.model("echo")
        before = pool.stats()["calls"]
        pool(1)
        self.assertGreater(pool.stats()["calls"], before)
        self.assertEqual(pool.health(), (True, []))
        self.assertIn('multipy_interpreters{pool="mine",state="serving"} 2', pool.metrics("mine"))


class WrongUse(unittest.TestCase):
    def test_of_the_constructor(self):
        for model in "no_function", "module:", ":function":
            with self.assertRaisesRegex(ValueError, "module:function"):
                multipy.Pool(1, model)
        with self.assertRaisesRegex(TypeError, "callable"):
            multipy.Pool(1, 5)
        with self.assertRaises(ValueError):
            multipy.Pool(0, "pool_models:echo")
        with self.assertRaises(LookupError):
            multipy.Pool(1, "pool_models:broken")

    def test_of_limits(self):
        for name, value in ("max_waiting", -1), ("replace_after_calls", -1), ("replace_after_bytes", 2**64):
            with self.assertRaisesRegex(ValueError, name):
                multipy.Pool(1, "pool_models:echo", **{name: value})
        for value in -1, float("nan"):
            with self.assertRaisesRegex(ValueError, "replace_after_seconds"):
                multipy.Pool(1, "pool_models:echo", replace_after_seconds=value)
        with multipy.Pool(1, "pool_models:echo", replace_after_seconds=float("inf"), replace_after_calls=None) as pool:
            before = pool.stats()["interpreters"]
            time.sleep(0.5)
            self.assertEqual([each["interpreter"] for each in pool.stats()["interpreters"]], [each["interpreter"] for each in before])
            self.assertEqual(pool(self=1), ((), {"self": 1}))
            for wrong in 2**32, -1, "a":
                with self.assertRaisesRegex(ValueError, "expected the number of one of the pool's"):
                    pool.replace(wrong)
            for wrong in 0, -1:
                with self.assertRaisesRegex(ValueError, "workers must be >= 1"):
                    pool.resize(wrong)

    def test_after_its_end(self):
        pool = multipy.Pool(1, "pool_models:echo")
        pool.close()
        pool.close()
        for use in pool, pool.submit, pool.stats, pool.health:
            with self.assertRaisesRegex(RuntimeError, "closed"):
                use()


class Ends(unittest.TestCase):
    def test_while_other_threads_call(self):
        for _ in range(5):
            pool = multipy.Pool(2, "pool_models:echo")
            ended = []

            def ask(pool=pool, ended=ended):
                try:
                    while True:
                        self.assertEqual(pool(torch.ones(2)).sum(), 2)
                        pool.submit(1).result(60)
                except (RuntimeError, concurrent.futures.CancelledError) as error:
                    ended.append(error)

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for each in threads:
                each.start()
            time.sleep(0.2)
            pool.close()
            for each in threads:
                each.join(60)
            self.assertEqual(len(ended), 4)

    def test_by_the_last_reference_in_a_callback(self):
        for _ in range(5):
            pool = multipy.Pool(1, "pool_models:echo")
            done = threading.Event()
            future = pool.submit(1)
            future.add_done_callback(lambda _, pool=pool: done.set())
            del pool, future
            self.assertTrue(done.wait(60))


class Programs(unittest.TestCase):
    def run_program(self, text, code=0):
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "program.py")
            pathlib.Path(path).write_text(textwrap.dedent(text))
            environment = {**os.environ, "PYTHONPATH": f"{folder.name}:{os.environ.get('PYTHONPATH', '')}"}
            done = subprocess.run(
                [sys.executable, "-B", path], capture_output=True, text=True, timeout=300, env=environment
            )
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def test_a_pool_that_is_not_closed_ends_with_the_program(self):
        self.run_program(
            """
            import multipy
            pool = multipy.Pool(2, "pool_models:echo")
            running = [pool.submit(i) for i in range(10)]
            raise SystemExit(pool(7))
            """,
            7,
        )

    def test_daemon_threads_that_call_do_not_disturb_the_end(self):
        # What they print is Python's own of the end ("this pool has been closed"), if there is still time.
        for call in "pool(1)", "pool.submit(1).add_done_callback(lambda future: future.result())":
            self.run_program(
                f"""
                import threading, time
                import multipy
                pool = multipy.Pool(2, "pool_models:echo")
                begun = threading.Semaphore(0)
                def work():
                    while True:
                        {call}
                        begun.release()
                        time.sleep(0.0001)
                threading.excepthook = lambda arguments: None
                for _ in range(4):
                    threading.Thread(target=work, daemon=True).start()
                for _ in range(20):
                    begun.acquire()
                """
            )

    def test_ctrl_c_ends_a_call_of_the_main_thread(self):
        out = self.run_program(
            """
            import os, signal, socket, threading, time
            import multipy
            ours, theirs = socket.socketpair()
            ours.setblocking(False)
            signal.set_wakeup_fd(ours.fileno(), warn_on_full_buffer=False)
            def send(number, signals):
                for _ in range(signals):
                    time.sleep(0.3)
                    os.kill(os.getpid(), number)
            def call(number, seconds, signals=1):
                sender = threading.Thread(target=send, args=(number, signals))
                sender.start()
                try:
                    return pool(seconds, deadline=60)
                finally:
                    sender.join()
            pool = multipy.Pool(1, "pool_models:wait")
            try:
                call(signal.SIGINT, 50)
            except KeyboardInterrupt:
                print("interrupted")
            handled = []
            signal.signal(signal.SIGINT, lambda *arguments: handled.append("SIGINT"))
            signal.signal(signal.SIGUSR1, lambda *arguments: handled.append("SIGUSR1"))
            print(call(signal.SIGINT, 1), call(signal.SIGUSR1, 1), handled)
            print(list(theirs.recv(10)), signal.set_wakeup_fd(-1) == ours.fileno())
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                call(signal.SIGINT, 50)
            except KeyboardInterrupt:
                print("interrupted")
            print(pool(0))
            """
        )
        lines = ["interrupted", "None None ['SIGINT', 'SIGUSR1']", "[2, 2, 10] True", "interrupted", "None"]
        self.assertEqual(out.splitlines(), lines)

    def test_a_model_of_the_main_module(self):
        self.run_program(
            """
            import multipy

            def make(factor):
                return lambda x: factor * x

            if __name__ == "__main__":
                with multipy.Pool(2, make, args=(3,)) as pool:
                    assert pool(5) == 15
            """
        )

    def test_a_forked_child_ends_while_calls_are_under_way(self):
        self.run_program(
            """
            import os, sys
            import multipy
            pool = multipy.Pool(1, "pool_models:wait")
            call = pool.submit(60)
            child = os.fork()
            if child == 0:
                sys.exit(3)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
            call.cancel()
            """
        )

    def test_a_forked_child_is_refused(self):
        out = self.run_program(
            """
            import os
            import multipy
            with multipy.Pool(1, "pool_models:echo") as pool:
                child = os.fork()
                if child == 0:
                    for use in pool, pool.submit, pool.stats:
                        try:
                            use()
                        except RuntimeError as error:
                            print("fork" in str(error), flush=True)
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
                assert pool(1) == 1
            """
        )
        self.assertEqual(out.split(), ["True"] * 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
