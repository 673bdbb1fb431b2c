"""Two replicas on one machine, HTTP clients, and a replica that is killed meanwhile.

    scripts/ray          sets up what it needs and runs this

Ends with an error if an answer is wrong, if more requests fail than the killed replica can have had, or if no
other replica takes its place.
"""

import collections
import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request

import ray
from ray import serve

import models
import multipy.serve

REPLICAS, INTERPRETERS, CLIENTS = 2, 2, 4
NUMBERS = [0.1] * 64


class Clients:
    """Threads that send one request after the other, each over a connection of its own."""

    def __init__(self, expected):
        self._expected = expected
        self._stop = threading.Event()
        self.outcomes = collections.Counter()
        self._threads = [threading.Thread(target=self._ask) for _ in range(CLIENTS)]
        for each in self._threads:
            each.start()

    def _ask(self):
        body = json.dumps(NUMBERS).encode()
        while not self._stop.is_set():
            request = urllib.request.Request("http://127.0.0.1:8000/", body, {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=60) as response:
                    self.outcomes["right" if json.load(response) == self._expected else "wrong"] += 1
            except (OSError, urllib.error.URLError):
                self.outcomes["failed"] += 1

    def stop(self):
        self._stop.set()
        for each in self._threads:
            each.join()


def replicas(handle):
    """Their process ids, as far as 20 requests find them."""
    return {handle.stats.remote().result()["pid"] for _ in range(20)}


def wait_for_replicas(handle, without=None):
    for _ in range(120):
        found = replicas(handle)
        if len(found) == REPLICAS and without not in found:
            return found
        time.sleep(1)
    raise SystemExit(f"found the replicas {found}, expected {REPLICAS}, without {without}")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.pathsep.join([here, *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    ray.init(num_cpus=REPLICAS * 2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": path}})
    app = multipy.serve.deployment(
        "models:make",
        workers=INTERPRETERS,
        weights="models:load",
        pool={"deadline": 30},
        num_replicas=REPLICAS,
        ray_actor_options={"num_cpus": 1},
    )
    handle = serve.run(app.bind())
    clients = Clients(models.make(models.load())(NUMBERS))
    first = wait_for_replicas(handle)
    time.sleep(3)

    victim = min(first)
    os.kill(victim, signal.SIGKILL)
    print(f"replicas {sorted(first)}; {victim} is killed after {sum(clients.outcomes.values())} requests", flush=True)
    then = wait_for_replicas(handle, victim)
    time.sleep(3)
    clients.stop()
    serve.shutdown()

    print(f"replicas {sorted(then)}; requests: {dict(clients.outcomes)}")
    if clients.outcomes["wrong"] or clients.outcomes["failed"] > CLIENTS or not clients.outcomes["right"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
