"""Runs CPython's, numpy's and scipy's own test suites in an interpreter that is not the
first of several, while the others are at work, and compares with plain Python.

    run.py RUN_IN_INTERPRETERS [--interpreters N] [--jobs J] [--write FILE] [SUITE|PART]...

    run.py .../run_in_interpreters cpython scipy.sparse

A part is a module of the suite (cpython) or a package (the others); each is a process of
its own on either side. A test may fail where it fails in plain Python, too, but not end
the process there. All others have to end as they do there, but for those that
excluded.txt names. A part with differences is run again, since some tests depend on time,
and has to differ again; what differed only at first is told, and does not count.
--write makes docs/suites.md, of all suites; scripts/suites calls this with everything set up.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "conformance")]

import command_line  # of tests/conformance
import comparison
import exclusions
import parts
import runner
from suites_page import page


def main() -> int:
    options = _arguments()
    # What nohup and a shell's & have children ignore would go down to the tests' own.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    excluded = exclusions.load()
    chosen = parts.choose(options.names)
    results = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for part, result in zip(chosen, pool.map(lambda each: _compare(options, each, excluded), chosen)):
            results[part] = result
            print(f"{part.name}: {result}", flush=True)
            for test in result.failed_in_both:
                print(f"  {test}: fails in plain Python, too", flush=True)
            for difference in result.differences:
                print(f"  {difference}", flush=True)
            for difference in result.only_at_first:
                print(f"  only at first: {difference}", flush=True)
    stale = exclusions.unused(excluded, results, chosen)
    for name in stale:
        print(f"{exclusions.FILE.name} names {name}, which is no test of these suites")
    if options.write:
        options.write.write_text(page(results, excluded, options.interpreters), "utf-8")
    return 1 if stale or any(result.differences for result in results.values()) else 0


def _arguments() -> argparse.Namespace:
    parser = command_line.parser(__doc__)
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="parts at a time (default: 1)")
    parser.add_argument("names", nargs="*", default=parts.SUITES, metavar="SUITE|PART")
    options = command_line.parse(parser)
    if options.write and options.names != parts.SUITES:
        parser.error(f"--write is for all suites, not for {', '.join(options.names)} alone: leave out one or the other")
    if options.interpreters < 2:
        parser.error(f"--interpreters is {options.interpreters}, expected at least 2: one of them is tested")
    return options


def _compare(options, part, excluded) -> comparison.Result:
    first = _compare_once(options, part, excluded)
    if not first.differences:
        return first
    result = _compare_once(options, part, excluded)
    result.only_at_first = [each for each in first.differences if each not in result.differences]
    return result


def _compare_once(options, part, excluded) -> comparison.Result:
    expected = _run(options, part, excluded, plain=True)
    begin = time.monotonic()
    # A module that is excluded is not even imported. Plain Python tells what is in it.
    found = {} if part.module in excluded else _run(options, part, excluded, plain=False)
    result = comparison.compare(expected, found)
    result.seconds = time.monotonic() - begin
    return result


def _run(options, part, excluded, plain) -> dict:
    """{test: (outcome, why)}"""
    with tempfile.TemporaryDirectory(prefix="suites-") as folder:
        paths = {name: pathlib.Path(folder, name) for name in ("journal", "through", "folder")}
        paths["folder"].mkdir()
        job = {
            **{name: str(path) for name, path in paths.items()},
            "interpreter": options.interpreters - 1,
            "suite": part.suite,
            "part": part.name,
            "excluded": sorted(excluded),
        }
        ended = ""
        try:
            (_run_plain if plain else _run_in_last)(options, job, part.timeout)
        except runner.ConformanceError as error:
            ended = str(error)
        return comparison.read(paths["journal"], part, ended)


def _run_plain(options, job, timeout):
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
    # In UTF-8 mode as interpreters are; the folder of the tests comes from elsewhere.
    runner.plain(
        "suite",
        [str(job["interpreter"]), json.dumps(job)],
        [HERE],
        timeout=timeout,
        environment=_environment(),
        options=("-X", "utf8", *(["-P"] if sys.version_info >= (3, 11) else [])),
    )


def _run_in_last(options, job, timeout):
    # Threads of the process begin with all signals blocked, and the one that runs the
    # tests unblocks them (main_thread.py): so it gets them, as the only thread of plain
    # Python does, and not the process's first thread, where no interpreter runs.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    runner.in_interpreters(
        options.executable,
        "suite",
        ["{interpreter}", json.dumps(job)],
        [HERE],
        interpreters=options.interpreters,
        timeout=timeout,
        environment=_environment(),
    )


def _environment():
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    # Sums are added in the same order everywhere.
    return {**kept, "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


if __name__ == "__main__":
    sys.exit(main())
