#!/usr/bin/env python3
"""The backend in the real server, again and again. Not part of the tests: takes long.

    soak.py reloads [--times 1000] [--every 50]     loads a model, asks it, unloads it
    soak.py load [--seconds 3600] [--clients 4]     many clients, some of whom go away, ask what raises,
                                                    what sleeps or loops until it is interrupted, models
                                                    that share interpreters and ask each other, or what
                                                    is being loaded anew

The same variables as server_test.py. Says every so often what the server's process has; the exit
status is 1 where an answer was wrong, or the process has more than it should at the end.
"""

import argparse
import json
import pathlib
import random
import re
import sys
import threading
import time

import numpy as np
import triton_server
import tritonclient.grpc
import tritonclient.http
from triton_server import value_of
from tritonclient.utils import InferenceServerException


def holds(server):
    """What the server's process has."""
    place = pathlib.Path(f"/proc/{server.process.pid}")
    status = (place / "status").read_text()
    return {
        "MiB resident": int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024,
        "mappings": (place / "maps").read_text().count("\n"),
        "threads": int(re.search(r"Threads:\s+(\d+)", status)[1]),
        "descriptors": len(list((place / "fd").iterdir())),
    }


def say(when, held):
    print(f"{when}: " + ", ".join(f"{count} {what}" for what, count in held.items()), flush=True)


def within(early, late, bounds):
    """Whether none has grown by more than its bound."""
    grown = {what: late[what] - early[what] for what in bounds if late[what] - early[what] > bounds[what]}
    for what, count in grown.items():
        print(f"FAILED: {count} {what} more, expected at most {bounds[what]}")
    return not grown


def ask(client, model, array, **options):
    return client.infer(model, [value_of(tritonclient.grpc, "IN", array)], **options).as_numpy("OUT")


def reloads(server, options):
    """A model.py and a package, in turn. The package has 100 MB of weights."""
    models = {"identity": 1, "package_doubles": 2}
    x = np.arange(6, dtype=np.float32).reshape(1, 6)
    early = None
    for time_ in range(1, options.times + 1):
        for model, factor in models.items():
            server.grpc.load_model(model)
            if not np.array_equal(ask(server.grpc, model, x), factor * x):
                print(f"FAILED: {model} answers wrongly, loaded the {time_}th time")
                return False
            server.grpc.unload_model(model)
            while server.grpc.is_model_ready(model):
                time.sleep(0.01)
        if time_ % options.every == 0:
            time.sleep(1)  # the last ones are being ended
            late = holds(server)
            early = early or late
            say(f"{time_} times", late)
    # Something stays of each interpreter (three a time), most of it torch's: tests/reliability/recycle.cpp.
    interpreters = 3 * (options.times - options.every)
    return within(
        early,
        late,
        {"MiB resident": 100 + interpreters // 6, "mappings": 400, "threads": 4, "descriptors": 4},
    )


def config_of(server, model):
    return server.grpc.get_model_config(model, as_json=True)["config"]


class Clients:
    # How often each is done, relatively. (One that is interrupted costs an interpreter.)
    ACTS = {"identity": 60, "package": 60, "raises": 30, "leaves": 30, "pooled": 60, "asks": 30, "interrupted": 1}
    MODELS = ("identity", "package_doubles", "package_wrong", "pooled", "pooled_beside")

    def __init__(self, server, options):
        self.server = server
        self.end = time.monotonic() + options.seconds
        self.counts = {}
        self.wrong = []
        self._lock = threading.Lock()

    def count(self, what):
        with self._lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def run(self, seed):
        choose = random.Random(seed)
        client = tritonclient.grpc.InferenceServerClient(f"127.0.0.1:{self.server.grpc_port}")
        while time.monotonic() < self.end:
            act = choose.choices(*zip(*self.ACTS.items()))[0]
            try:
                getattr(self, act)(client, choose)
                self.count(act)
            except Exception as error:
                self.wrong.append(f"{act}: {error!r}")
                return
        client.close()

    def _same(self, client, choose, model, factor):
        x = np.full((choose.randint(1, 4), choose.choice((1, 100, 30000))), choose.random(), np.float32)
        y = ask(client, model, x)
        if not np.array_equal(y, factor * x):
            raise ValueError(f"{model}: {y.ravel()[:4]}, expected {factor * x.ravel()[:4]}")

    def identity(self, client, choose):
        self._same(client, choose, "identity", 1)

    def package(self, client, choose):
        self._same(client, choose, "package_doubles", 2)

    def raises(self, client, choose):
        value = value_of(tritonclient.grpc, "IN", np.array([1], np.int32))
        try:
            client.infer("package_wrong", [value])
        except InferenceServerException as error:
            if "ValueError: way 1" in str(error):
                return
            raise
        raise ValueError("package_wrong has answered")

    def leaves(self, client, choose):
        """Goes away before the answer is there, most of the time. (By HTTP: Triton 2.51 crashes in its own
        gRPC threads where a client's cancelling meets its answer, with its Python backend too.)"""
        impatient = tritonclient.http.InferenceServerClient(
            f"127.0.0.1:{self.server.http_port}", network_timeout=choose.uniform(0.001, 0.05)
        )
        value = value_of(tritonclient.http, "IN", np.ones((4, 300000), np.float32))
        try:
            impatient.infer("package_doubles", [value])
        except OSError:  # its time is over
            pass
        finally:
            impatient.close()

    def pooled(self, client, choose):
        model = choose.choice(("pooled", "pooled_beside"))
        folders = triton_server.told(client, model, "folders")
        if not all(folder.endswith(f"/{model}/1") for folder in folders):
            raise ValueError(f"{model} is told {folders}")

    def asks(self, client, choose):
        """One model asks another one, which may be in the same interpreter."""
        folders = triton_server.told(client, "pooled", "ask", "pooled_beside", "folders")
        if not all(folder.endswith("/pooled_beside/1") for folder in folders):
            raise ValueError(f"pooled_beside is told {folders}")

    def interrupted(self, client, choose):
        what = choose.choice(("where", "loop"))
        try:
            triton_server.told(client, "pooled", what, 600, timeout=choose.randint(1, 500_000))
        except InferenceServerException as error:
            if "deadline" in str(error):
                return
            raise
        raise ValueError(f"pooled has answered {what} of 600 seconds")

    def check_health(self):
        for model in self.MODELS:
            if not self.server.grpc.is_model_ready(model):
                self.wrong.append(f"{model} is not ready")

    def change(self):
        """Loads the models anew, with another count of instances, while they are asked."""
        count = 0
        try:
            while time.monotonic() < self.end and not self.wrong:
                time.sleep(5)
                count += 1
                for model in ("identity", "package_doubles", "pooled", "pooled_beside"):
                    config = config_of(self.server, model)
                    config["instance_group"] = [{"kind": "KIND_CPU", "count": 1 + count % 3}]
                    self.server.grpc.load_model(model, config=json.dumps(config))
                    self.count("changes")
        except Exception as error:
            self.wrong.append(f"change: {error!r}")


def load(server, options):
    for model in Clients.MODELS:
        server.grpc.load_model(model)
    config = config_of(server, "pooled")
    config["parameters"]["INTERRUPT_TIMED_OUT"] = {"string_value": "true"}
    server.grpc.load_model("pooled", config=json.dumps(config))
    clients = Clients(server, options)
    threads = [threading.Thread(target=clients.run, args=(seed,)) for seed in range(options.clients)]
    threads.append(threading.Thread(target=clients.change))
    for thread in threads:
        thread.start()
    early, told = None, time.monotonic() + 60
    while any(thread.is_alive() for thread in threads):
        time.sleep(1)
        if time.monotonic() > told and not clients.wrong:
            told = time.monotonic() + 60
            clients.check_health()
            late = holds(server)
            early = early or late
            say(", ".join(f"{count} {what}" for what, count in sorted(clients.counts.items())), late)
    for each in clients.wrong:
        print("FAILED:", each)
    print(clients.counts)
    bounds = {"MiB resident": 1000, "mappings": 2000, "threads": 40, "descriptors": 40}
    return not clients.wrong and (early is None or within(early, late, bounds))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("reloads", "load"))
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--clients", type=int, default=4)
    options = parser.parse_args()
    server = triton_server.Server()
    try:
        good = globals()[options.what](server, options)
    except Exception as error:
        print(f"FAILED: {error!r}")
        good = False
    finally:
        status = server.stop()
    if status != 0:
        print(f"FAILED: the server ended with {status}:\n" + "\n".join(server.log[-40:]))
    return 0 if good and status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
