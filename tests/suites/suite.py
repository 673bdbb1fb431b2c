"""Runs a part of another project's test suite, and reports what became of each test.

    report(["interpreter", "job as JSON"]) -> str (JSON)

The job's tests run in the interpreter that it names, and in plain Python. In all other
interpreters report() is the load (busy.py): it works until the tests are through.

Results are also written to the job's journal as they come, so that something is known of
a process that crashes or hangs: which test it was in.
"""

import json
import os
import pathlib
import threading

import busy


def report(arguments: list[str]) -> str:
    interpreter, job = arguments[0], json.loads(arguments[1])
    through = pathlib.Path(job["through"])
    if interpreter != str(job["interpreter"]):
        return json.dumps({"rounds of load": busy.work(until=through.exists)})
    try:
        _test(job)
    finally:
        through.touch()
    return json.dumps({"through": True})


def _test(job):
    os.chdir(job["folder"])
    with Journal(job["journal"]) as journal:
        if threading.current_thread() is threading.main_thread():  # plain Python
            _run(job, journal)
            return
        import main_thread

        with main_thread.as_main_thread():
            _run(job, journal)


def _run(job, journal):
    SUITES[job["suite"]](job["part"], job["excluded"], journal)


class Journal:
    """A line of JSON for each test that starts, [test], or ends, [test, outcome, why].

    Written past Python's buffers, and to a descriptor that tests do not find by counting.
    """

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        import fcntl

        opened = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._file = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, 900)
        os.close(opened)
        self._process = os.getpid()
        return self

    def __exit__(self, *exception):
        os.close(self._file)

    def started(self, test):
        self._write([test])

    def ended(self, test, outcome, why=""):
        self._write([test, outcome, why])

    def _write(self, entry):
        if os.getpid() == self._process:  # a test's fork may come out of the test
            os.write(self._file, (json.dumps(entry) + "\n").encode())


def _cpython(part, excluded, journal):
    """`part` is the name of a module in `test`, as python -m test knows it."""
    import cpython_suite

    cpython_suite.run(part, excluded, journal)


def _pytest(part, excluded, journal):
    """`part` is the name of a package that brings its tests along."""
    import pytest_suite

    pytest_suite.run(part, excluded, journal)


SUITES = {"cpython": _cpython, "numpy": _pytest, "scipy": _pytest}
