"""Runs extensions with habits of all kinds in plain Python and in four interpreters at
once, and compares.

    run.py RUN_IN_INTERPRETERS FOLDER

FOLDER has the extensions that CMakeLists.txt builds.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "conformance"))

import runner  # of tests/conformance


def main() -> int:
    executable, folder = sys.argv[1:]
    expected = runner.plain("report", [], [HERE, folder])
    print(expected)
    failed = 0
    # Twice: the copies have to be found again, and nothing may be left of the first time.
    for _ in range(2):
        reports = runner.in_interpreters(executable, "report", [], [HERE, folder], interpreters=4, timeout=120)
        for key, found in reports.items():
            if found != expected:
                print(f"round and interpreter {key} differ: {found}")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
