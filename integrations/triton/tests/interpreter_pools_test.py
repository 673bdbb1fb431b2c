"""Models whose instances share interpreters (parameter INTERPRETER_POOL), in the real server.

The same variables as server_test.py.
"""

import concurrent.futures
import json
import os
import tempfile
import time
import unittest

import numpy as np
import triton_server
import tritonclient.grpc
from triton_server import eventually, value_of
from tritonclient.utils import InferenceServerException

server = None


def setUpModule():
    global server
    server = triton_server.Server()


def tearDownModule():
    server.end()


def told(model, *what, **options):
    return triton_server.told(server.grpc, model, *what, **options)


def where(model):
    """The interpreters that its instances are in."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return {each[0] for each in pool.map(lambda _: told(model, "where", 0.2), range(4))}


def interpreters():
    return server.metric("multipy_interpreters", 'pool="tests/')


class PoolTest(unittest.TestCase):
    def load(self, model, count=1, **parameters):
        """Once, with this configuration: a model that is loaded anew is so before it is unloaded."""
        config = {
            "backend": "multipy",
            "input": [{"name": "IN", "data_type": "TYPE_STRING", "dims": [1]}],
            "output": [{"name": "OUT", "data_type": "TYPE_STRING", "dims": [1]}],
            "instance_group": [{"kind": "KIND_CPU", "count": count}],
            "parameters": {
                key: {"string_value": value}
                for key, value in {"INTERPRETER_POOL": "tests", **parameters}.items()
            },
        }
        server.grpc.load_model(model, config=json.dumps(config))
        self.addCleanup(self.unload, model)

    def unload(self, model):
        server.grpc.unload_model(model)
        self.assertTrue(eventually(lambda: not server.grpc.is_model_ready(model)))

    def tearDown(self):
        self.doCleanups()
        # An interpreter ends with its last instance.
        self.assertTrue(eventually(lambda: interpreters() == 0))


class Placed(PoolTest):
    def test_instances_of_one_model_have_different_interpreters_and_other_models_share_them(self):
        self.load("pooled", 2)
        self.load("pooled_beside")
        both, beside = where("pooled"), where("pooled_beside")
        self.assertEqual((len(both), len(beside)), (2, 1))
        self.assertLess(beside, both)
        self.assertTrue(eventually(lambda: interpreters() == 2))

    def test_each_gets_the_modules_beside_it_and_no_others(self):
        models = ("pooled", "pooled_apart", "pooled_beside")
        for model in models:
            self.load(model)
        self.assertEqual(len({each for model in models for each in where(model)}), 1)
        for _ in range(2):
            for model in ("pooled", "pooled_apart"):
                self.assertEqual(told(model, "helpers"), [model] * 2)
                self.assertEqual(told(model, "unpickles", "pooled_helper"), model)
            self.assertIn("No module named", told("pooled_beside", "imports", "pooled_helper"))
            for model in models:
                for name in ("model", f"{model}_1.model"):
                    self.assertTrue(told(model, "imports", name).endswith(f"/{model}/1/model.py"))

    def test_each_is_told_its_own_folder(self):
        self.load("pooled")
        self.load("pooled_beside")
        self.assertEqual(where("pooled"), where("pooled_beside"))
        for model, times in (("pooled", 3), ("pooled_beside", 2)):
            folders = told(model, "folders")
            self.assertEqual(len(folders), times)
            for folder in folders:
                self.assertTrue(folder.endswith(f"/{model}/1"), folder)

    def test_a_model_asks_another_one_of_its_interpreter(self):
        self.load("pooled")
        self.load("pooled_beside")
        for _ in range(20):
            here, _ = told("pooled", "where")
            self.assertEqual(told("pooled", "ask", "pooled_beside", "where")[0], here)
            self.assertEqual(told("pooled_beside", "ask", "pooled", "where")[0], here)

    def test_two_models_ask_a_third_one_at_once(self):
        self.load("pooled")
        self.load("pooled_beside")
        self.load("pooled_apart")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(
                pool.map(
                    lambda i: told(("pooled", "pooled_beside")[i % 2], "ask", "pooled_apart", "where"),
                    range(200),
                )
            )
        self.assertEqual(len({each[0] for each in answers}), 1)

    def test_a_thread_of_a_library_asks_another_one(self):
        self.load("pooled")
        self.load("pooled_beside")
        self.assertFalse(told("pooled", "asks_by_a_pool", "pooled_beside"))

    def test_a_child_of_a_fork_cannot_ask_another_one(self):
        self.load("pooled")
        self.load("pooled_beside")
        self.assertIn("a child of fork", told("pooled", "forks", "pooled_beside"))

    def test_one_does_not_wait_for_another_one_that_sleeps(self):
        self.load("pooled")
        self.load("pooled_beside")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            sleeps = pool.submit(told, "pooled", "where", 3)
            time.sleep(0.5)
            told("pooled_beside", "where")
            self.assertFalse(sleeps.done())

    def test_a_model_loads_another_one_into_its_interpreter(self):
        self.load("pooled")
        self.addCleanup(self.unload, "pooled_beside")
        self.assertTrue(told("pooled", "load", "pooled_beside"))
        self.assertEqual(where("pooled"), where("pooled_beside"))


class AtOnce(PoolTest):
    def test_all_models_are_loaded_at_once_into_a_pool_without_interpreters(self):
        models = ("pooled", "pooled_beside", "pooled_apart")
        for _ in range(3):
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                list(pool.map(self.load, models))
            # (One way: models that ask each other in a circle wait for ever, in any backend.)
            asks = [("pooled", "pooled_beside"), ("pooled_beside", "pooled_apart")]
            with concurrent.futures.ThreadPoolExecutor(6) as pool:
                answers = list(
                    pool.map(lambda i: told(asks[i % 2][0], "ask", asks[i % 2][1], "folders"), range(60))
                )
            for i, folders in enumerate(answers):
                self.assertTrue(folders[0].endswith(f"/{asks[i % 2][1]}/1"), folders)
            self.tearDown()


class Unloaded(PoolTest):
    def test_one_that_keeps_its_requests(self):
        self.load("pooled_beside")
        told("pooled_beside", "keeps")

    def test_nothing_of_it_stays_and_the_others_go_on(self):
        self.load("pooled")
        before = told("pooled", "modules")
        self.load("pooled_beside")
        self.assertNotEqual(told("pooled", "modules"), before)
        at = where("pooled")
        self.unload("pooled_beside")
        self.assertTrue(eventually(lambda: told("pooled", "modules") == before))
        self.assertEqual(where("pooled"), at)

    def test_again_and_again(self):
        self.load("pooled")
        alone = told("pooled", "modules")
        self.load("pooled_beside")

        def once():
            self.unload("pooled_beside")
            # (It is ready no more before it has been finalized.)
            self.assertTrue(eventually(lambda: told("pooled", "modules") == alone))
            server.grpc.load_model("pooled_beside")
            told("pooled_beside", "where")

        for _ in range(5):
            once()
        before = server.memory()
        for _ in range(50):
            once()
        grown = server.memory() - before
        print(f"loaded 50 times into a shared interpreter: {grown / 2**20:.1f} MiB more")
        self.assertLess(grown, 20 * 2**20)
        self.assertEqual(where("pooled"), where("pooled_beside"))


class Replaced(PoolTest):
    def setUp(self):
        self.flag = os.path.join(tempfile.mkdtemp(), "flag")
        self.load("pooled", INTERRUPT_TIMED_OUT="true")
        self.load("pooled_beside", RAISES_IF=self.flag)
        self.at = where("pooled")
        self.assertEqual(where("pooled_beside"), self.at)

    def interrupt(self, by="where"):
        with self.assertRaisesRegex(InferenceServerException, "deadline"):
            told("pooled", by, 60, timeout=500_000)
        self.assertTrue(eventually(lambda: where("pooled") != self.at))

    def test_all_of_its_models_are_initialized_in_the_one_that_takes_its_place(self):
        (_, began), (_, beside_began) = told("pooled", "where"), told("pooled_beside", "where")
        self.interrupt("loop")
        self.assertEqual(where("pooled_beside"), where("pooled"))
        self.assertGreater(told("pooled", "where")[1], began)
        self.assertGreater(told("pooled_beside", "where")[1], beside_began)

    def test_one_that_cannot_be_initialized_there_fails_alone_until_it_can(self):
        with open(self.flag, "w"):
            pass
        self.interrupt()
        for _ in range(3):
            with self.assertRaisesRegex(InferenceServerException, "RuntimeError: .* is there"):
                told("pooled_beside", "where")
            told("pooled", "where")
        os.remove(self.flag)
        self.assertEqual(where("pooled_beside"), where("pooled"))


class Refused(PoolTest):
    def test_one_whose_initialize_raises_and_the_others_go_on(self):
        self.load("pooled")
        before = told("pooled", "modules")
        with tempfile.NamedTemporaryFile() as flag:
            with self.assertRaisesRegex(InferenceServerException, "RuntimeError: .* is there"):
                self.load("pooled_beside", RAISES_IF=flag.name)
        self.assertFalse(server.grpc.is_model_ready("pooled_beside"))
        self.assertTrue(eventually(lambda: told("pooled", "modules") == before))

    def test_a_package(self):
        with self.assertRaisesRegex(InferenceServerException, "INTERPRETER_POOL; a torch.package"):
            self.load("package_doubles")


class Weights(PoolTest):
    def test_instances_in_shared_interpreters_have_them_once(self):
        self.load("pooled", 2)
        server.grpc.load_model("shares")
        self.addCleanup(self.unload, "shares")
        config = server.http.get_model_config("shares")
        config["parameters"]["INTERPRETER_POOL"] = {"string_value": "tests"}
        server.http.load_model("shares", config=json.dumps(config))
        self.assertTrue(eventually(lambda: interpreters() == 3))
        x = value_of(tritonclient.grpc, "IN", np.zeros(256, np.float32))
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(lambda _: server.grpc.infer("shares", [x]), range(9)))
        layer, tied, own = (
            {int(each) for each in column}
            for column in np.array([answer.as_numpy("PLACE") for answer in answers]).T
        )
        self.assertEqual((len(layer), layer), (1, tied))
        self.assertEqual(len(own), 3)
        self.assertTrue(eventually(lambda: interpreters() == 3))


if __name__ == "__main__":
    unittest.main(verbosity=2)
