"""Runs a module's report() in plain Python, and in N interpreters of one process.

Plain Python is the reference: a module that tests want compared has

    def report(arguments: list[str]) -> str: ...

and a driver asks both sides for it:

    expected = runner.plain("some_module", ["an argument"], [folder_of_the_module])
    found = runner.in_interpreters(executable, "some_module", ["an argument"],
                                   [folder_of_the_module], interpreters=4, rounds=2)
    for (round, interpreter), report in found.items():
        ...  # report == expected

`executable` is run_in_interpreters (its source says what it does). Both sides
run the Python that this module is imported by; environment variables are
handed on as they are, or as `environment` says.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

TIMEOUT = 600  # seconds
_TAIL = 6000  # characters of output that an error repeats


class ConformanceError(Exception):
    """A side that made no report. str() says which, and what it said."""


class RaisedError(ConformanceError):
    """report() raised. `errors` has {(round, interpreter): text}, plain Python's as (0, None)."""

    def __init__(self, message, errors):
        super().__init__(message)
        self.errors = errors


class CrashError(ConformanceError):
    """The process ended by a signal, or with a status that no report explains.

    `signal` is its name or None. `reports` has the reports that were made before.
    """

    def __init__(self, message, signal, reports):
        super().__init__(message)
        self.signal = signal
        self.reports = reports


class TimeoutError(ConformanceError):
    """The process did not end in time. `reports` has the reports that were made."""

    def __init__(self, message, reports):
        super().__init__(message)
        self.reports = reports


# What the plain side runs: as in run_in_interpreters, the paths come behind Python's own.
_PLAIN = """
import importlib, json, pathlib, sys
job = json.loads(sys.argv.pop())
sys.path[:] = [path for path in sys.path if path]  # not the folder that this was started in
sys.path.extend(job["paths"])
made = importlib.import_module(job["module"]).report(job["arguments"])
pathlib.Path(job["target"]).write_text(made, "utf-8")
"""


def plain(module, arguments=(), paths=(), *, timeout=TIMEOUT, environment=None, options=("-I",)):
    """report() of `module` in a fresh process of this Python."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        target = pathlib.Path(folder, "report")
        job = {
            "target": str(target),
            "paths": [str(path) for path in paths],
            "module": module,
            "arguments": list(arguments),
        }
        command = [sys.executable, *options, "-c", _PLAIN, json.dumps(job)]
        what = f"{module}.report({list(arguments)}) in plain Python"
        status, output = _run(command, what, timeout, environment, dict)
        if status == 0 and target.exists():
            return target.read_text("utf-8")
        if status == 1:
            raise RaisedError(f"{what} raised:\n{output}", {(0, None): output})
        raise CrashError(f"{what} {_ending(status)}:\n{output}", _signal_name(status), {})


def in_interpreters(
    executable,
    module,
    arguments=(),
    paths=(),
    *,
    interpreters=4,
    rounds=1,
    timeout=TIMEOUT,
    environment=None,
    whole_torch=False,
):
    """{(round, interpreter): report()} of `module` in `interpreters` at once, `rounds` times."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        command = [str(executable), "--interpreters", str(interpreters), "--rounds", str(rounds), "--report", folder]
        command += ["--whole-torch"] if whole_torch else []
        for path in paths:
            command += ["--path", str(path)]
        command += [module, *arguments]
        environment = dict(os.environ if environment is None else environment)
        environment["VIRTUAL_ENV"] = sys.prefix  # the interpreters' Python is this one
        what = f"{module}.report({list(arguments)}) in {interpreters} interpreters"
        status, output = _run(command, what, timeout, environment, lambda: _read(folder, ".json"))
        reports, errors = _read(folder, ".json"), _read(folder, ".error")
        if status == 1 and errors:
            told = "\n".join(f"round {r}, interpreter {k}: {text}" for (r, k), text in sorted(errors.items()))
            raise RaisedError(f"{what} raised:\n{told}", errors)
        if status != 0 or len(reports) != interpreters * rounds:
            made = f"after {len(reports)} of {interpreters * rounds} reports"
            raise CrashError(f"{what} {_ending(status)} {made}:\n{output}", _signal_name(status), reports)
        return reports


def _run(command, what, timeout, environment, reports):
    """-> (exit status, tail of its output). All of its processes end with it."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{what} did not end in {timeout} s:\n{_tail(output)}", reports()) from None
        finally:
            _end_group(process)
        return status, _tail(output)


def _end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _tail(file):
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    return file.read().decode("utf-8", "replace").strip()


def _read(folder, ending):
    """{(round, interpreter): text} of the files that run_in_interpreters wrote."""
    texts = {}
    for file in pathlib.Path(folder).glob(f"round-*-interpreter-*{ending}"):
        _, round_number, _, interpreter = file.stem.split("-")
        texts[int(round_number), int(interpreter)] = file.read_text("utf-8")
    return texts


def _signal_name(status):
    return signal.Signals(-status).name if status < 0 else None


def _ending(status):
    return f"was ended by {_signal_name(status)}" if status < 0 else f"exited with status {status}"
