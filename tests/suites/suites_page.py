"""docs/suites.md: whose tests were run, and what came of it."""

import collections
import importlib.metadata
import platform

_PAGE = """# Other people's test suites, in one of several interpreters

Written by `scripts/suites --write`; do not edit. CPython {python}, {machine}.

The tests run in the last of {interpreters} interpreters of one process, while the others compute,
in Python and numpy, start threads, import and raise. Plain Python of the same environment
runs the same tests, and each has to end here as it does there: *differ* is what does not.
A test that fails in plain Python, too, on this machine, says nothing about multipy.

| suite | version | passed | skipped | fail in plain Python, too | excluded | differ |
|---|---|---|---|---|---|---|
{rows}

The thread that runs them is declared the interpreter's main one and has the process's
signals to itself (`tests/suites/main_thread.py`), as CPython's suite expects. Tests that
need the network, a display or much memory ask to be skipped, here and there.

## Excluded

`tests/suites/excluded.txt` names the tests.

| tests | why |
|---|---|
{excluded}
"""


def page(results: dict, excluded: dict, interpreters: int) -> str:
    suites = dict.fromkeys(part.suite for part in results)
    counts = collections.Counter(
        excluded[name] for result in results.values() for name in result.excluded.values()
    )
    return _PAGE.format(
        python=platform.python_version(),
        machine=platform.machine(),
        interpreters=interpreters,
        rows="\n".join(_row(suite, results) for suite in suites),
        excluded="\n".join(f"| {count} | {reason} |" for reason, count in counts.most_common()),
    )


def _row(suite, results) -> str:
    own = [result for part, result in results.items() if part.suite == suite]
    version = platform.python_version() if suite == "cpython" else importlib.metadata.version(suite)
    cells = [
        _NAMES[suite],
        version,
        sum(result.passed for result in own),
        sum(result.skipped for result in own),
        sum(len(result.failed_in_both) for result in own),
        sum(len(result.excluded) for result in own),
        sum(len(result.differences) for result in own),
    ]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


_NAMES = {
    "cpython": "CPython's regression suite (`python -m test`)",
    "numpy": "numpy (`numpy.test()`)",
    "scipy": "scipy (`scipy.linalg.test()`, `scipy.sparse.test()`)",
}
