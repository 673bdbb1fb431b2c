"""Runs one package's program and reports what it printed.

    report(["numpy"]) -> str (JSON)

What it prints has to be the same in every process, so that two sides can be compared.
"""

import contextlib
import io
import json
import os
import pathlib
import runpy

PROGRAMS = pathlib.Path(__file__).with_name("programs")

# Sums are added in the same order everywhere, and none asks the network.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


def report(arguments: list[str]) -> str:
    (name,) = arguments
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(PROGRAMS / f"{name}.py"), run_name=f"programs.{name}")
    return json.dumps({"printed": printed.getvalue()})
