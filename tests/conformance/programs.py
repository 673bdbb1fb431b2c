"""Runs programs (programs/<topic>/<name>.py) and records what each of them did.

A program is an ordinary script. Its record is what it printed and the exception
that ended it, if one did. It runs as `__main__`, as from the command line.

Both sides of a comparison use this: `report()` is what interpreters are asked
for, `reference.report()` is plain Python's side.
"""

import contextlib
import io
import json
import os
import pathlib
import random
import re
import runpy
import sys
import tempfile
import traceback

FOLDER = pathlib.Path(__file__).parent / "programs"

# Numbers and names that tell how much a Python has done before, and nothing about
# the program: the first are left out, the others replaced by their first part.
_MANGLED = re.compile(r"___torch_mangle_[0-9]+\.")
_COUNTED = re.compile(rf"(?P<kind><torch_package_|{re.escape(tempfile.gettempdir())}/tmp)[a-z0-9_]+")

def record(name, device=None):
    """What the program `name` ("topic/name") does, with new tensors on `device` if one is named."""
    path = FOLDER / f"{name}.py"
    output = io.StringIO()
    error = None
    # Warnings go to stderr. torch gives some of them once in the life of a process.
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()), _on(device):
        try:
            runpy.run_path(str(path), run_name="__main__")
        except BaseException as raised:  # SystemExit and KeyboardInterrupt are results, too
            error = describe(raised, path)
    return {"output": uncounted(output.getvalue()), "error": error}


def _on(device):
    if not device:
        return contextlib.nullcontext()
    import torch

    return torch.device(device)


def uncounted(text):
    return _COUNTED.sub(r"\g<kind>", _MANGLED.sub("", text))


def describe(error, path):
    """Type and message of `error`, and the lines of the program that it passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    description = {
        "type": f"{type(error).__module__}.{type(error).__qualname__}",
        "message": uncounted(str(error)),
        "lines": [f"{frame.name}: {frame.line}" for frame in frames if frame.filename == str(path)],
    }
    error.__traceback__ = None  # its frames keep what the program made
    return description


def report(arguments):
    """Records of some programs as JSON.

    The arguments are one JSON object: `programs`, `seed` (of the order, which
    is another one in each interpreter and round), `device` (record() says what
    it does) and `progress`, a folder where a file tells which program is under
    way: what is left there after a crash.
    """
    job, place = json.loads(arguments[0]), arguments[1]
    sys.path[:] = [str(FOLDER)] + [p for p in sys.path if p != str(FOLDER)]
    order = list(job["programs"])
    random.Random(f"{job['seed']} {place}").shuffle(order)
    progress = pathlib.Path(job["progress"], place)
    records = {}
    for name in order:
        progress.write_text(name)
        records[name] = record(name, job["device"])
    os.remove(progress)
    return json.dumps(records)
