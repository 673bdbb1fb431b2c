"""Runs a program for each package in plain Python and in N interpreters at once, and
compares what they printed.

    run.py RUN_IN_INTERPRETERS [--interpreters N] [--jobs J] [--write FILE] [PACKAGE...]

Each side of each package is a process of its own, which has to end with exit status 0.
The Python that runs this is the one that is compared. --write makes the table of
docs/packages.md, of all packages; scripts/package-table calls it with everything set up.
"""

import argparse
import concurrent.futures
import dataclasses
import difflib
import importlib.metadata
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "conformance")]

import command_line  # of tests/conformance
import packages
import runner
from packages_page import page

TIMEOUT = 240  # seconds; of one process


@dataclasses.dataclass(frozen=True)
class Result:
    version: str
    cause: str  # nothing if all went well


def main() -> int:
    options = _arguments()
    known = packages.load()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        sys.exit(f"run.py: not in {packages.LIST}: {', '.join(unknown)}")
    chosen = [known[name] for name in options.names or known]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for package, result in zip(chosen, pool.map(lambda each: _run(options, each), chosen)):
            results[package] = result
            print(f"{package.name} {result.version}: {result.cause or 'ok'}", flush=True)
    failed = sum(bool(result.cause) for result in results.values())
    print(f"{len(results) - failed} of {len(results)} ok")
    if options.write:
        options.write.write_text(page(results, options.interpreters), "utf-8")
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = command_line.parser(__doc__)
    parser.add_argument("--jobs", type=int, default=2, metavar="J", help="packages at a time (default: 2)")
    parser.add_argument("names", nargs="*", metavar="PACKAGE")
    options = command_line.parse(parser)
    if options.write and options.names:
        parser.error(f"--write is for all packages, not for {', '.join(options.names)} alone: leave out one or the other")
    return options


def _run(options, package: packages.Package) -> Result:
    version = importlib.metadata.version(package.name)
    try:
        expected = runner.plain("report", [package.program], [HERE], timeout=TIMEOUT)
    except runner.ConformanceError as error:
        return Result(version, f"fails in plain Python, too: {_last_line(error)}")
    # Copies of its libraries are made anew: nothing is owed to an earlier run.
    with tempfile.TemporaryDirectory(prefix="packages-") as cache:
        try:
            reports = runner.in_interpreters(
                options.executable,
                "report",
                [package.program],
                [HERE],
                interpreters=options.interpreters,
                timeout=TIMEOUT,
                environment={**os.environ, "XDG_CACHE_HOME": cache},
            )
        except runner.ConformanceError as error:
            print(error, flush=True)
            return Result(version, _last_line(error))
    for (_, interpreter), report in sorted(reports.items()):
        if report != expected:
            return Result(version, f"interpreter {interpreter} differs: {_difference(expected, report)}")
    return Result(version, "")


def _last_line(error: Exception) -> str:
    first, *_, last = str(error).strip().splitlines() * 2
    return last if last != first else first.rstrip(":")


def _difference(expected: str, found: str) -> str:
    before, after = (json.loads(report)["printed"].splitlines() for report in (expected, found))
    lines = [line for line in difflib.unified_diff(before, after, lineterm="", n=0) if line[:2] not in ("--", "++", "@@")]
    return " / ".join(lines[:2])[:300]


if __name__ == "__main__":
    sys.exit(main())
