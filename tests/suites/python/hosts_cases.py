"""multipy in programs that start Python in ways of their own: gunicorn, whose workers are forked, pytest, a
notebook's kernel. For scripts/python-suites."""

import collections
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import nbclient
import nbformat

_HOSTS = pathlib.Path(__file__).parent / "hosts"


def _free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def _get(url, seconds=60):
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=seconds) as answer:
                return answer.read().decode()
        except urllib.error.URLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


class Gunicorn(unittest.TestCase):
    def serve(self, *options, end=signal.SIGTERM):
        port = _free_port()
        with tempfile.TemporaryFile("w+") as log:
            server = subprocess.Popen(
                [sys.executable, "-m", "gunicorn", "--workers=2", f"--bind=127.0.0.1:{port}", "--no-control-socket",
                 *options, "application:application"],
                cwd=_HOSTS, stdout=log, stderr=log,
            )
            try:
                answers = collections.Counter(_get(f"http://127.0.0.1:{port}/") for _ in range(20))
                server.send_signal(end)
                code = server.wait(60)
            finally:
                server.kill()
                server.wait()
            log.seek(0)
            text = log.read()
        self.assertEqual(code, 0, text)
        self.assertEqual({answer.split()[1] for answer in answers}, {"8.0"})
        for trouble in "Traceback", "terminate", "was sent SIG", "Perhaps out of memory":
            self.assertNotIn(trouble, text)

    def test_workers(self):
        self.serve()

    def test_workers_with_threads(self):
        self.serve("--threads=4", end=signal.SIGINT)

    def test_torch_and_multipy_imported_before_the_fork(self):
        self.serve("--preload")

    def test_the_same_with_threads(self):
        self.serve("--preload", "--threads=4")


class Pytest(unittest.TestCase):
    def test_tests_with_pools(self):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_pool.py"],
            cwd=_HOSTS, capture_output=True, text=True, timeout=300,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("6 passed", done.stdout)


class Notebook(unittest.TestCase):
    CELLS = """
import os, signal, threading, time
import numpy, torch
import multipy
weights = torch.ones(3, 3)
class Model:
    def __init__(self, weights):
        self.weights = weights
    def __call__(self, x):
        return x @ self.weights
pool = multipy.Pool(2, Model, args=(weights,))
-- [[3.0, 3.0, 3.0]]
pool(torch.ones(1, 3)).tolist()
-- [[3.0, 3.0, 3.0]]
(await pool.acall(torch.ones(1, 3))).tolist()
-- [0.0, 2.0]
with multipy.InterpreterPoolExecutor(2) as executor:
    sums = list(executor.map(lambda x: float((x * numpy.ones(2)).sum()), range(2)))
sums
-- 'interrupted'
def waiting():
    return time.sleep
ended = None
waits = multipy.Pool(1, waiting)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    waits(50, deadline=60)
except KeyboardInterrupt:
    ended = "interrupted"
ended
"""

    def test_cells(self):
        texts, expected = [[]], []
        for line in self.CELLS.strip().splitlines():
            if line.startswith("-- "):
                expected.append(line.removeprefix("-- "))
                texts.append([])
            else:
                texts[-1].append(line)
        cells = [nbformat.v4.new_code_cell("\n".join(text)) for text in texts]
        notebook = nbformat.v4.new_notebook(cells=cells)
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
        found = [
            output["data"]["text/plain"]
            for cell in notebook.cells
            for output in cell.outputs
            if output.output_type == "execute_result"
        ]
        self.assertEqual(found, expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
