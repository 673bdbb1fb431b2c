"""Starts the real server on free ports, with the models beside this file."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

import numpy as np
import tritonclient.grpc
import tritonclient.http
from tritonclient.utils import np_to_triton_dtype

MODELS = [pathlib.Path(__file__).parent / "models"]
if "TRITON_PACKAGES" in os.environ:  # what make_packages.py has written
    MODELS.append(pathlib.Path(os.environ["TRITON_PACKAGES"]))


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def value_of(kind, name, array, type_name=None):
    value = kind.InferInput(name, array.shape, type_name or np_to_triton_dtype(array.dtype))
    value.set_data_from_numpy(array)
    return value


def told(client, model, *what, **options):
    """What a model answers over gRPC that does what the JSON in IN says, as models/pooled does."""
    value = value_of(tritonclient.grpc, "IN", np.array([json.dumps(what)], np.object_))
    return json.loads(client.infer(model, [value], **options).as_numpy("OUT")[0])


def eventually(what, seconds=30):
    """What it returns once that is true, or in the end."""
    end = time.monotonic() + seconds
    while not (value := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return value


class Server:
    """A server in explicit model control. Its log is in `log`, in lines."""

    def __init__(self, models=MODELS, environment=None):
        self.http_port, self.grpc_port, self.metrics_port = free_ports(3)
        self.log = []
        self._place = tempfile.TemporaryDirectory()
        command = [
            os.environ["TRITON_SERVER"],
            *(f"--model-repository={each}" for each in models),
            f"--backend-directory={os.environ['TRITON_BACKENDS']}",
            "--model-control-mode=explicit",
            "--exit-timeout-secs=20",
            *(f"--{kind}-address=127.0.0.1" for kind in ("http", "grpc")),
            f"--http-port={self.http_port}",
            f"--grpc-port={self.grpc_port}",
            f"--metrics-port={self.metrics_port}",
            *os.environ.get("TRITON_OPTIONS", "").split(),
        ]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self._place.name,
            env={**os.environ, **(environment or {})},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.http = tritonclient.http.InferenceServerClient(
            f"127.0.0.1:{self.http_port}", connection_timeout=120, network_timeout=120
        )
        self.grpc = tritonclient.grpc.InferenceServerClient(f"127.0.0.1:{self.grpc_port}")
        self._wait()

    def _read(self):
        for line in self.process.stdout:
            self.log.append(line.rstrip("\n"))

    def _wait(self):
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError("the server has ended:\n" + "\n".join(self.log[-40:]))
            try:
                if self.grpc.is_server_ready() and self.http.is_server_ready():
                    return
            except Exception:  # not there yet
                pass
            time.sleep(0.2)
        raise RuntimeError("the server is not ready:\n" + "\n".join(self.log[-40:]))

    def metric(self, name, *labels):
        """The sum of those with these labels, as the server's page shows them."""
        page = urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics").read()
        return sum(
            float(line.rsplit(" ", 1)[1])
            for line in page.decode().splitlines()
            if line.startswith(name + "{") and all(label in line for label in labels)
        )

    def memory(self):
        """Resident, in bytes."""
        text = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text()
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def has_logged(self, pattern, seconds=10):
        end = time.monotonic() + seconds
        while True:
            if any(re.search(pattern, line) for line in list(self.log)):
                return True
            if time.monotonic() > end:
                return False
            time.sleep(0.1)

    def stop(self):
        """The exit status, after SIGINT."""
        self.http.close()
        self.grpc.close()
        self.process.send_signal(signal.SIGINT)
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self._reader.join()
        self.process.stdout.close()
        self._place.cleanup()
        return status

    def end(self):
        """The same; RuntimeError, with the end of the log, where the status is not 0."""
        status = self.stop()
        if status != 0:
            raise RuntimeError(f"the server ended with {status}:\n" + "\n".join(self.log[-60:]))
