"""The backend in the real server, asked by tritonclient over HTTP and gRPC.

TRITON_SERVER is the program, TRITON_BACKENDS the folder that has multipy/libtriton_multipy.so,
TRITON_PACKAGES what make_packages.py has written, TRITON_OPTIONS further options of the server: with
--backend-config=multipy,interpreter-pool=all every model.py is in the interpreters of one pool.
"""

import concurrent.futures
import json
import os
import queue
import threading
import time
import unittest

import numpy as np
import triton_server
import tritonclient.grpc
import tritonclient.http
from triton_server import eventually, value_of
from tritonclient.utils import InferenceServerException

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

server = None


def setUpModule():
    global server
    server = triton_server.Server()


def tearDownModule():
    server.end()


def ask(model, client=None, outputs=None, **inputs):
    """Asks the model over gRPC, or as the client that is given does."""
    client = client or server.grpc
    kind = tritonclient.http if client is server.http else tritonclient.grpc
    return client.infer(
        model,
        [value_of(kind, name, array) for name, array in inputs.items()],
        outputs=[kind.InferRequestedOutput(name) for name in outputs or ()],
    )


def number(value):
    return np.array([value], np.int32)


def metric(name, model, *labels):
    pooled = name.startswith("multipy_") and "interpreter-pool=all" in os.environ.get("TRITON_OPTIONS", "")
    return server.metric(name, 'pool="all/' if pooled else f'model="{model}"', *labels)


def settled(what):
    """What it returns twice, a second apart: a request is counted after its answer was sent."""
    last = None
    while (value := what()) != last:
        last = value
        time.sleep(1)
    return value


class ModelTest(unittest.TestCase):
    model = None

    @classmethod
    def setUpClass(cls):
        server.grpc.load_model(cls.model)

    @classmethod
    def tearDownClass(cls):
        server.grpc.unload_model(cls.model)

    def fails(self, pattern, *args, **inputs):
        with self.assertRaisesRegex(InferenceServerException, pattern) as raised:
            ask(*args, **inputs)
        return raised.exception


class Identity(ModelTest):
    model = "identity"

    def test_both_protocols_and_all_sizes(self):
        random = np.random.default_rng(0)
        for client in (server.http, server.grpc):
            # (0 bytes; one buffer; HTTP brings the last one in several pieces.)
            for size in (0, 1, 1000, 1 << 20):
                x = random.standard_normal((2, size), np.float32)
                y = ask("identity", client, IN=x).as_numpy("OUT")
                np.testing.assert_array_equal(x, y)

    def test_many_at_once(self):
        def one(i):
            x = np.full((1, 50), i, np.float32)
            return np.array_equal(ask("identity", IN=x).as_numpy("OUT"), x)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertTrue(all(pool.map(one, range(400))))

    def test_statistics(self):
        def counts():
            names = ("request_success", "count", "exec_count")
            return [metric(f"nv_inference_{each}", "identity") for each in names]

        before = settled(counts)
        for _ in range(5):
            ask("identity", IN=np.zeros((3, 4), np.float32))
        self.assertEqual([b - a for a, b in zip(before, settled(counts))], [5, 15, 5])
        self.assertGreater(metric("nv_inference_compute_infer_duration_us", "identity"), 0)

    def test_figures_of_its_interpreters(self):
        time.sleep(2.5)  # they are read once a second
        before = metric("multipy_calls_total", "identity")
        self.assertEqual(metric("multipy_interpreters", "identity"), 2)
        for _ in range(5):
            ask("identity", IN=np.zeros((3, 4), np.float32))
        self.assertTrue(eventually(lambda: metric("multipy_calls_total", "identity") == before + 5))
        self.assertGreater(metric("multipy_run_time_seconds_sum", "identity"), 0)
        self.assertGreater(metric("multipy_heap_bytes", "identity"), 1 << 20)
        server.grpc.unload_model("identity")
        self.assertTrue(eventually(lambda: metric("multipy_interpreters", "identity") == 0))
        server.grpc.load_model("identity")

    def test_wrong_inputs(self):
        self.fails("batch-size must be <= 8", "identity", IN=np.zeros((9, 1), np.float32))
        self.fails("data-type|datatype", "identity", IN=np.zeros((1, 1), np.int32))
        self.fails("IN", "identity", OTHER=np.zeros((1, 1), np.float32))


class AddSub(ModelTest):
    model = "add_sub"

    def test(self):
        a, b = np.arange(4, dtype=np.float32), np.full(4, 2, np.float32)
        for client in (server.http, server.grpc):
            answer = ask("add_sub", client, INPUT0=a, INPUT1=b)
            np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), a + b)
            np.testing.assert_array_equal(answer.as_numpy("OUTPUT1"), a - b)

    def test_requested_outputs(self):
        a = np.zeros(4, np.float32)
        answer = ask("add_sub", outputs=["OUTPUT1"], INPUT0=a, INPUT1=a)
        self.assertIsNone(answer.as_numpy("OUTPUT0"))
        self.assertIsNotNone(answer.as_numpy("OUTPUT1"))


class Strings(ModelTest):
    model = "strings"

    def test(self):
        texts = np.array([[b"abc", b"", b"\x00\xff", "ü".encode()]], dtype=np.object_)
        for client in (server.http, server.grpc):
            answer = ask("strings", client, IN=texts).as_numpy("OUT")
            self.assertEqual(answer.tolist(), [[each[::-1] for each in texts[0]]])
        empty = np.empty((1, 0), dtype=np.object_)
        self.assertEqual(ask("strings", IN=empty).as_numpy("OUT").shape, (1, 0))


class Batching(ModelTest):
    model = "batching"

    def test_a_batch_is_one_call_and_errors_are_each_ones_own(self):
        def one(value):
            try:
                return ask("batching", IN=np.array([[value]], np.int32))
            except InferenceServerException as error:
                return error

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            first, second, third, failed = pool.map(one, [1, 2, 3, -4])
        for value, answer in ((1, first), (2, second), (3, third)):
            self.assertEqual(answer.as_numpy("OUT").tolist(), [[2 * value]])
        self.assertGreater(max(int(a.as_numpy("REQUESTS")[0, 0]) for a in (first, second, third)), 1)
        self.assertIn("negative", failed.message())
        self.assertIn("INVALID_ARGUMENT", str(failed.status()))


class Raises(ModelTest):
    model = "raises"

    def test_what_goes_wrong_is_told_and_the_model_goes_on(self):
        expected = {
            1: "ValueError: way 1",
            2: "SystemExit",
            3: "do not match the number of",
            4: "Expected an 'InferenceResponse' object",
            5: "without a last response",
            6: "exec.. is for requests that the model has made",
            7: "7 is not a valid .*MetricKind",
            8: "without a last response",
            11: "iterative_sequence",
        }
        for way, pattern in expected.items():
            self.fails(pattern, "raises", IN=number(way))
            self.assertEqual(ask("raises", IN=number(0)).as_numpy("OUT").tolist(), [0])

    def test_codes(self):
        for code, status in (
            (100, "UNKNOWN"),
            (101, "INTERNAL"),
            (102, "NOT_FOUND"),
            (103, "INVALID_ARGUMENT"),
            (104, "UNAVAILABLE"),
            (105, "UNIMPLEMENTED"),
            (106, "ALREADY_EXISTS"),
            (107, "CANCELLED"),
        ):
            error = self.fails(f"code {code}", "raises", IN=number(code))
            self.assertIn(status, str(error.status()))

    def test_response_sender_of_a_model_that_is_not_decoupled(self):
        self.assertEqual(ask("raises", IN=number(9)).as_numpy("OUT").tolist(), [9])
        self.assertEqual(ask("raises", IN=number(10)).as_numpy("OUT").tolist(), [10])
        self.assertEqual(ask("raises", IN=number(0)).as_numpy("OUT").tolist(), [0])

    def test_statistics_of_failures(self):
        def count():
            return metric("nv_inference_request_failure", "raises")

        before = settled(count)
        self.fails("way 1", "raises", IN=number(1))
        self.assertEqual(settled(count), before + 1)


class NotReady(unittest.TestCase):
    def test_why(self):
        for model, pattern in (
            ("initialize_raises", "RuntimeError: no weights in initialize_raises"),
            ("syntax_error", "SyntaxError"),
        ):
            with self.assertRaisesRegex(InferenceServerException, pattern):
                server.grpc.load_model(model)
            self.assertFalse(server.grpc.is_model_ready(model))
            self.assertTrue(server.grpc.is_server_live())


class Completed(ModelTest):
    model = "completed"

    def test(self):
        config = server.http.get_model_config("completed")
        self.assertEqual(config["max_batch_size"], 4)
        self.assertIn("dynamic_batching", config)
        answer = ask("completed", IN=np.array([[1, 2]], np.int64))
        self.assertEqual(answer.as_numpy("OUT").tolist(), [[41, 42]])


class Tensors(ModelTest):
    model = "tensors"

    def test_torch_bf16_and_bool(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        truth = np.array([True, False])
        if ml_dtypes is not None:  # what newer clients want, and older ones do not take
            x = x.astype(ml_dtypes.bfloat16)
        for client, kind in ((server.http, tritonclient.http), (server.grpc, tritonclient.grpc)):
            answer = client.infer(
                "tensors", [value_of(kind, "IN", x, "BF16"), value_of(kind, "TRUE", truth)]
            )
            np.testing.assert_array_equal(answer.as_numpy("OUT"), x.T)
            self.assertEqual(answer.as_numpy("FALSE").tolist(), [False, True])


class Told(ModelTest):
    model = "told"

    def told(self, client, kind, **options):
        answer = client.infer(
            "told",
            [value_of(kind, "IN", np.zeros(3, np.int32))],
            outputs=[kind.InferRequestedOutput("TOLD")],
            **options,
        )
        self.assertIsNone(answer.as_numpy("OTHER"))
        return json.loads(answer.as_numpy("TOLD")[0]), answer

    def test(self):
        for client, kind in ((server.http, tritonclient.http), (server.grpc, tritonclient.grpc)):
            told, answer = self.told(
                client,
                kind,
                request_id="seven",
                sequence_id=77,
                sequence_start=True,
                timeout=5_000_000,
                parameters={"number": 4, "text": 'a "b"\n', "truth": True},
            )
            self.assertEqual(told["request_id"], "seven")
            self.assertEqual(told["correlation_id"], 77)
            self.assertEqual(told["flags"], 1)
            self.assertEqual(told["timeout"], 5_000_000)
            self.assertEqual(
                told["parameters"], {"number": 4, "text": 'a "b"\n', "truth": True}
            )
            self.assertEqual(told["requested"], ["TOLD"])
            self.assertFalse(told["cancelled"])
            self.assertTrue(told["folder"].endswith("told/1"))
            self.assertEqual(told["size"], 3)
        parameters = answer.get_response().parameters
        self.assertEqual(parameters["whole"].int64_param, 7)
        self.assertTrue(parameters["truth"].bool_param)
        self.assertEqual(parameters["text"].string_param, "über")
        told, _ = self.told(server.grpc, tritonclient.grpc, sequence_id="text")
        self.assertEqual(told["correlation_id"], "text")
        self.assertTrue(server.has_logged(r"model\.py:\d+.*told of seven"))


class Stream:
    """A gRPC stream; what comes is in `answers`."""

    def __init__(self):
        self.answers = queue.Queue()
        self.client = tritonclient.grpc.InferenceServerClient(f"127.0.0.1:{server.grpc_port}")
        self.client.start_stream(lambda result, error: self.answers.put((result, error)))

    def ask(self, model, array, request_id=""):
        self.client.async_stream_infer(
            model,
            [value_of(tritonclient.grpc, "IN", array)],
            request_id=request_id,
            enable_empty_final_response=True,
        )

    def next(self):
        return self.answers.get(timeout=30)

    def close(self):
        self.client.stop_stream()
        self.client.close()


class Decoupled(ModelTest):
    model = "repeats"

    def test(self):
        stream = Stream()
        self.addCleanup(stream.close)
        for count in (3, 0):
            stream.ask("repeats", number(count))
            for i in range(count):
                result, error = stream.next()
                self.assertIsNone(error)
                self.assertEqual(result.as_numpy("OUT").tolist(), [i])
            result, error = stream.next()
            self.assertIsNone(error)
            self.assertTrue(result.get_response().parameters["triton_final_response"].bool_param)

    def test_dropped(self):
        stream = Stream()
        self.addCleanup(stream.close)
        stream.ask("repeats", number(-1))
        result, error = stream.next()
        self.assertIn("without a last response", str(error))


class Iterates(ModelTest):
    model = "iterates"

    def test_a_request_comes_again(self):
        stream = Stream()
        self.addCleanup(stream.close)
        for _ in range(2):
            stream.ask("iterates", np.array([[3]], np.int32))
            answers = [stream.next() for _ in range(3)]
            self.assertEqual([error for _, error in answers], [None] * 3)
            self.assertEqual([int(r.as_numpy("OUT")[0, 0]) for r, _ in answers], [2, 1, 0])


class Awaits(ModelTest):
    model = "awaits"

    def test_coroutines_of_several_calls_run_at_once(self):
        stream = Stream()
        self.addCleanup(stream.close)
        stream.ask("awaits", number(0))
        stream.next()
        begin = time.monotonic()
        for i in range(10):
            stream.ask("awaits", number(i))
        answers = sorted(int(stream.next()[0].as_numpy("OUT")[0]) for _ in range(10))
        self.assertEqual(answers, list(range(1, 11)))
        self.assertLess(time.monotonic() - begin, 1.5)  # one after the other: two seconds


class Keeps(ModelTest):
    model = "keeps"

    def test_an_input_that_is_kept_stays_what_it_is(self):
        def sum_after(client, first, size, value):
            array = np.full(size, value, np.int32)
            array[0] = first
            return ask("keeps", client, IN=array).as_numpy("OUT").tolist()

        for client in (server.http, server.grpc):
            self.assertEqual(sum_after(client, 0, 2, 3), [0])
            self.assertEqual(sum_after(client, 1, 2, 5), [3])  # small ones are copied
            self.assertEqual(sum_after(client, 0, 1_000_000, 3), [0])
            self.assertEqual(sum_after(client, 0, 1_000_000, 7), [0])  # the backend sees it
            self.assertEqual(sum_after(client, 1, 1_000_000, 1), [999_999 * 7])
        self.assertTrue(server.has_logged("'keeps.*' keeps an input"))


class Cancelled(ModelTest):
    model = "cancelled"

    def logged(self, what):
        return sum(what in line for line in list(server.log))

    def test_a_request_whose_client_has_gone_is_interrupted(self):
        begins, ends = self.logged("cancelled begins"), self.logged("cancelled ends")
        ask("cancelled", IN=np.zeros(1, np.float32))
        ended = threading.Event()
        running = server.grpc.async_infer(
            "cancelled",
            [value_of(tritonclient.grpc, "IN", np.array([60], np.float32))],
            lambda result, error: ended.set(),
        )
        time.sleep(1)
        begin = time.monotonic()
        running.cancel()
        self.assertTrue(ended.wait(10))
        # The next one needs the instance, which would sleep for a minute.
        answer = ask("cancelled", IN=np.zeros(1, np.float32))
        self.assertEqual(answer.as_numpy("OUT").tolist(), [0])
        self.assertLess(time.monotonic() - begin, 30)
        self.is_replaced(begins, ends)

    def is_replaced(self, begins, ends):
        """Another interpreter takes the place of the one that was interrupted."""
        self.assertTrue(eventually(lambda: self.logged("cancelled ends") > ends))
        self.assertEqual(self.logged("cancelled ends"), ends + 1)
        self.assertEqual(self.logged("cancelled begins"), begins + 1)
        self.assertEqual(ask("cancelled", IN=np.zeros(1, np.float32)).as_numpy("OUT").tolist(), [0])

    def test_a_request_that_takes_longer_than_its_timeout_is_interrupted(self):
        begins, ends = self.logged("cancelled begins"), self.logged("cancelled ends")
        answer = server.grpc.infer(
            "cancelled",
            [value_of(tritonclient.grpc, "IN", np.zeros(1, np.float32))],
            timeout=60_000_000,  # microseconds
        )
        self.assertEqual(answer.as_numpy("OUT").tolist(), [0])
        begin = time.monotonic()
        with self.assertRaisesRegex(InferenceServerException, "deadline"):
            server.grpc.infer(
                "cancelled",
                [value_of(tritonclient.grpc, "IN", np.array([60], np.float32))],
                timeout=500_000,
            )
        self.assertLess(time.monotonic() - begin, 30)
        self.is_replaced(begins, ends)
        counter = ("multipy_ended_calls_total", "cancelled", 'reason="deadline"', 'begun="yes"')
        self.assertTrue(eventually(lambda: metric(*counter) == 1))


class Shares(ModelTest):
    model = "shares"

    def test_instances_have_their_weights_once(self):
        x = np.random.default_rng(0).standard_normal(256, np.float32)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(lambda _: ask("shares", IN=x), range(9)))
        for answer in answers:
            np.testing.assert_array_equal(answer.as_numpy("OUT"), answers[0].as_numpy("OUT"))
        places = np.array([answer.as_numpy("PLACE") for answer in answers])
        layer, tied, own = ({int(each) for each in column} for column in places.T)
        self.assertEqual(len(layer), 1)
        self.assertEqual(layer, tied)
        self.assertEqual(len(own), 3)  # other weights in each instance


class Asks(ModelTest):
    """Requests of a model to other ones."""

    model = "asks"
    others = ("add_sub", "told", "raises", "repeats", "awaits", "cancelled", "identity")

    @classmethod
    def setUpClass(cls):
        for each in cls.others:
            server.grpc.load_model(each)
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        for each in cls.others:
            server.grpc.unload_model(each)

    def told(self, *what):
        answer = ask("asks", IN=np.array([json.dumps(what)], np.object_))
        return json.loads(answer.as_numpy("OUT")[0])

    def test_outputs(self):
        self.assertEqual(self.told("add_sub"), [[1, 2, 3, 4], [-1, 0, 1, 2]])
        self.assertEqual(self.told("only_one_output"), ["OUTPUT1"])
        self.assertTrue(self.told("many_numbers", 10))
        self.assertTrue(self.told("many_numbers", 2_500_000))

    def test_all_that_a_request_has(self):
        told, parameters = self.told("what_it_is_told")
        self.assertEqual(told["request_id"], "from asks")
        self.assertEqual(told["correlation_id"], "a text")
        self.assertEqual(told["flags"], 1)
        self.assertEqual(told["timeout"], 77)
        self.assertEqual(told["parameters"], {"text": "ü", "number": -3, "truth": True})
        self.assertEqual(told["requested"], ["TOLD"])
        self.assertEqual(parameters, {"whole": 7, "truth": True, "text": "über"})

    def test_errors(self):
        self.assertIn("only supported during the 'execute'", self.told("in_initialize"))
        for model, pattern in (("nowhere", "'nowhere' is not ready"), ("repeats", "decoupled=True")):
            self.assertIn(pattern, self.told("error_of", model, 1)["error"])
        self.assertEqual(self.told("error_of", "raises", 103), {"error": "code 103", "code": 3})
        self.assertIn("way 1", self.told("error_of", "raises", 1)["error"])
        self.assertIn("no weights", self.told("cannot_load"))

    def test_several_responses(self):
        self.assertEqual(self.told("one_after_the_other", 4), [[0, 1, 2, 3]] * 2)
        self.assertEqual(self.told("one_after_the_other", 0), [[], []])

    def test_coroutines_wait_at_once(self):
        answers, seconds = self.told("at_once", 10)
        self.assertEqual(answers, list(range(1, 11)))
        self.assertLess(seconds, 1.5)  # one after the other: two seconds

    def test_one_that_is_given_up(self):
        answer, seconds = self.told("given_up")
        self.assertEqual(answer, [0])
        self.assertLess(seconds, 30)

    def test_models(self):
        self.assertEqual(self.told("models", "strings"), [False, [True, False], False])
        self.assertEqual(self.told("a_model_of_its_own"), [12])

    def test_many_at_once(self):
        def one(i):
            return self.told("many_numbers", 1000 + i)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertTrue(all(pool.map(one, range(64))))


class Measures(ModelTest):
    model = "measures"

    def test(self):
        # (Two instances, whose metrics are one.)
        for value in (3, 4, 50):
            ask("measures", IN=number(value))
        self.assertEqual(metric("measured_count", "measures"), 57)
        self.assertEqual(metric("measured_last", "measures"), 50)
        self.assertEqual(metric("measured_sizes_count", "measures"), 3)
        self.assertEqual(metric("measured_sizes_sum", "measures"), 57)

    def test_errors(self):
        for value, pattern in (
            (-1, "Failed to increment metric value"),
            (-2, "buckets"),
            (-3, "expected a dict of str to str"),
            (-4, "'MetricFamily' has been deleted"),
        ):
            self.fails(pattern, "measures", IN=number(value))

    def test_they_end_with_the_model(self):
        server.grpc.unload_model("measures")
        end = time.monotonic() + 30
        while metric("measured_count", "measures") and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(metric("measured_count", "measures"), 0)
        server.grpc.load_model("measures")
        ask("measures", IN=number(3))
        self.assertEqual(metric("measured_count", "measures"), 3)


class Named(ModelTest):
    """default_model_filename"""

    model = "named"

    def test_its_file_is_the_one_that_the_configuration_names(self):
        self.assertEqual(ask("named", IN=number(3)).as_numpy("OUT").tolist(), [4])


class Packages(unittest.TestCase):
    def load(self, model):
        server.grpc.load_model(model)
        self.addCleanup(server.grpc.unload_model, model)

    def test_one_input_and_one_output(self):
        self.load("package_doubles")
        for client in (server.http, server.grpc):
            for size in (0, 1, 1 << 20):
                x = np.arange(2 * size, dtype=np.float32).reshape(2, size)
                y = ask("package_doubles", client, IN=x).as_numpy("OUT")
                np.testing.assert_array_equal(y, 2 * x)

    def test_instances_share_the_weights(self):
        def loaded(count):
            config = json.dumps(
                {
                    **server.http.get_model_config("package_doubles"),
                    "instance_group": [{"kind": "KIND_CPU", "count": count}],
                }
            )
            server.http.load_model("package_doubles", config=config)
            for _ in range(20):
                ask("package_doubles", IN=np.ones((1, 2), np.float32))
            return server.memory()

        self.load("package_doubles")
        # 100 MB of weights. (A further interpreter with torch has some 50 MB.)
        one, three = loaded(1), loaded(3)
        self.assertLess(three - one, 2 * 90 * 2**20)

    def test_several_by_name_and_requests_joined(self):
        self.load("package_several")

        def one(value):
            a, b = np.full((1, 2), value, np.float32), np.full((1, 2), 10, np.float32)
            return ask("package_several", A=a, B=b)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(one, range(4)))
        for value, answer in enumerate(answers):
            self.assertEqual(answer.as_numpy("SUM").tolist(), [[value + 10] * 2])
        self.assertGreater(max(int(each.as_numpy("COUNT")[0, 0]) for each in answers), 1)
        answer = ask("package_several", outputs=["SUM"], A=np.ones((2, 2), np.float32),
                     B=np.ones((2, 2), np.float32))
        self.assertEqual(answer.as_numpy("SUM").tolist(), [[2, 2], [2, 2]])
        self.assertIsNone(answer.as_numpy("COUNT"))

    def test_what_goes_wrong(self):
        self.load("package_wrong")
        for way, pattern in (
            (1, "ValueError: way 1"),
            (2, "a String for output 'OUT', expected a tensor"),
            (3, "2 values, expected as many"),
            (4, "a tensor of Double for output 'OUT', the configuration says Int"),
        ):
            with self.assertRaisesRegex(InferenceServerException, pattern):
                ask("package_wrong", IN=number(way))
            self.assertEqual(ask("package_wrong", IN=number(0)).as_numpy("OUT").tolist(), [0])
        with self.assertRaisesRegex(InferenceServerException, "model.pt"):
            server.grpc.load_model("package_broken")
        self.assertFalse(server.grpc.is_model_ready("package_broken"))


class Reload(unittest.TestCase):
    def grown(self, model, x, times):
        """How much resident memory has grown by, when the model has been loaded so often."""

        def once():
            server.grpc.load_model(model)
            ask(model, IN=x)
            server.grpc.unload_model(model)
            end = time.monotonic() + 30
            while server.grpc.is_model_ready(model) and time.monotonic() < end:
                time.sleep(0.02)

        for _ in range(5):
            once()
        before = server.memory()
        for _ in range(times):
            once()
        grown = server.memory() - before
        print(f"{model}, {times} times: {grown / 2**20:.1f} MiB more, of {before / 2**20:.0f}")
        return grown

    def test_a_model_py(self):
        self.assertLess(self.grown("identity", np.ones((1, 5), np.float32), 20), 40 * 2**20)

    def test_a_package(self):
        # (Its weights are 100 MB.)
        self.assertLess(self.grown("package_doubles", np.ones((1, 5), np.float32), 10), 60 * 2**20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
