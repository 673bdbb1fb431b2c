"""Runs models of transformers in plain Python and in N interpreters at once, and
compares all that they computed, bit by bit.

    run.py RUN_IN_INTERPRETERS [--interpreters N] [--rounds R] [--whole-torch] [--write FILE] [ARCHITECTURE...]

Prints what differed and exits with 1 if anything did. --write makes the table of
docs/models.md. The Python that runs this is the one that is compared; scripts/models
calls it with everything set up.
"""

import argparse
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "conformance")]

import command_line  # of tests/conformance
import runner
from architectures import ARCHITECTURES
from comparison import compare, flaw
from models_page import page

TIMEOUT = 3600  # seconds; of one process


def main() -> int:
    options = _arguments()
    names = options.names or sorted(ARCHITECTURES)
    print(f"{len(names)} architectures in plain Python", flush=True)
    reference = json.loads(runner.plain("report", names, [HERE], timeout=TIMEOUT))
    expected = reference["models"]
    print(f"and in {options.interpreters} interpreters at once, {options.rounds} times", flush=True)
    results = _results(options, names, expected)
    for name in names:
        if results[name]:
            print(f"{name}: {results[name]}")
    failed = sum(bool(result) for result in results.values())
    print(f"{len(names) - failed} of {len(names)} equal")
    if options.write:
        options.write.write_text(page(reference, results, options.interpreters, options.rounds), "utf-8")
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = command_line.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=2, metavar="R")
    parser.add_argument("--whole-torch", action="store_true", help="without InterpreterOptions::slimTorch")
    parser.add_argument("names", nargs="*", metavar="ARCHITECTURE")
    options = command_line.parse(parser)
    unknown = [name for name in options.names if name not in ARCHITECTURES]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(sorted(ARCHITECTURES))}")
    return options


def _results(options, names: list[str], expected: dict) -> dict[str, str]:
    """{architecture: what is wrong, or nothing}"""
    results = {name: flaw(expected[name]) for name in names}
    try:
        reports = _in_interpreters(options, names)
    except (runner.CrashError, runner.TimeoutError) as error:
        if len(names) == 1:
            return {names[0]: str(error).strip()}
        # Which of them was it? Each by itself.
        print(error, flush=True)
        for name in names:
            results |= _results(options, [name], expected)
        return results
    for (round_number, interpreter), report in sorted(reports.items()):
        for name in names:
            difference = compare(expected[name], report["models"][name])
            if difference and not results[name]:
                results[name] = f"round {round_number}, interpreter {interpreter}: {difference}"
    return results


def _in_interpreters(options, names: list[str]) -> dict:
    arguments = ["--round", "{round}", "--interpreter", f"{{interpreter}}/{options.interpreters}", *names]
    reports = runner.in_interpreters(
        options.executable,
        "report",
        arguments,
        [HERE],
        interpreters=options.interpreters,
        rounds=options.rounds,
        timeout=TIMEOUT,
        whole_torch=options.whole_torch,
    )
    return {key: json.loads(report) for key, report in reports.items()}


if __name__ == "__main__":
    sys.exit(main())
