"""Runs examples/05_service and talks to it as a client does. Nothing here or in the tests that use it
depends on how fast the machine is: TOO_LONG is for what will never come."""

import contextlib
import http.client
import json
import pathlib
import re
import subprocess
import tempfile
import time

from prometheus_client.parser import text_string_to_metric_families

TOO_LONG = 400  # seconds


def wait_until(condition, what):
    end = time.monotonic() + TOO_LONG
    while not (result := condition()):
        assert time.monotonic() < end, f"waited in vain until {what}"
        time.sleep(0.02)
    return result


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()

    def json(self):
        return json.loads(self.text)

    def error(self):
        """(type, message) of what is no success."""
        error = self.json()["error"]
        return error["type"], error["message"]

    def __repr__(self):
        return f"{self.status} {self.text}"


class Service:
    """A running one. Its log is read again for each look at it."""

    def __init__(self, process, log):
        self.process = process
        self._log = log
        self.port = None

    def log(self):
        return self._log.read_text()

    def find_port(self):
        assert self.process.poll() is None, f"it ended with {self.process.returncode}:\n{self.log()}"
        if found := re.search(r"listening at [\d.]+:(\d+)\n", self.log()):
            self.port = int(found[1])
        return self.port

    def request(self, method, path, body=None, headers=()):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TOO_LONG)
        with contextlib.closing(connection):
            connection.request(method, path, body, dict(headers))
            return Answer(connection.getresponse())

    def get(self, path):
        return self.request("GET", path)

    def predict(self, document, **headers):
        """predict(..., Timeout_Ms="5") sends the header Timeout-Ms."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.request("POST", "/predict", json.dumps(document).encode(),
                            {"Content-Type": "application/json", **named})

    def metric(self, name, **labels):
        """The sum of the samples that have these labels."""
        samples = [sample for family in text_string_to_metric_families(self.get("/metrics").text)
                   for sample in family.samples if sample.name == name]
        assert samples, f"/metrics has no {name}"
        return sum(sample.value for sample in samples
                   if all(sample.labels.get(label) == value for label, value in labels.items()))

    def is_ready(self):
        return self.find_port() and self.get("/ready").status == 200

    def accepts(self):
        try:
            self.get("/live")
        except ConnectionError:
            return False
        return True

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        return self.process.wait(TOO_LONG)


@contextlib.contextmanager
def running(program, package, **options):
    """A service that is ready; running(..., replace_after_calls=5) is --replace-after-calls 5."""
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        with log.open("wb") as output:
            process = subprocess.Popen([program, "--package", package, "--port", "0", *words], stderr=output)
        service = Service(process, log)
        try:
            wait_until(service.is_ready, "the service is ready")
            yield service
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            print(service.log())
