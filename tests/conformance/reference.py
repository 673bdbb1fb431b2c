"""Plain Python's side of a comparison: each program in a process of its own.

The processes are forked from one that has imported torch and done nothing else,
which saves that import for each of some hundred programs.
"""

import json
import os
import sys
import tempfile

import programs

# What a program may expect to be there already: imported once, here.
import torch  # noqa: F401


def report(arguments):
    """{program: [record of the first round, of the second, ...]} as JSON."""
    job = json.loads(arguments[0])
    sys.path.insert(0, str(programs.FOLDER))
    waiting = list(job["programs"])
    running = {}  # process id -> (program, file of its records)
    records = {}
    while waiting or running:
        while waiting and len(running) < job["processes"]:
            name, file = waiting.pop(0), tempfile.TemporaryFile("w+")
            running[_fork(name, job["rounds"], job["device"], file)] = name, file
        process, status = os.wait()
        name, file = running.pop(process)
        file.seek(0)
        records[name] = json.load(file) if status == 0 else _ended(status)
    return json.dumps(records)


def _fork(name, rounds, device, file):
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        json.dump([programs.record(name, device) for _ in range(rounds)], file)
        file.flush()
        status = 0
    finally:
        os._exit(status)


def _ended(status):
    raise RuntimeError(f"a program ended its process with {os.waitstatus_to_exitcode(status)}, which is no result")
