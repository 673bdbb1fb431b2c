"""docs/packages.md: which packages were run, and what came of it."""

import platform

_PAGE = """# Packages, in several interpreters at once

Written by `scripts/package-table --write`; do not edit. CPython {python}, {machine}.

Each package is installed by pip as it comes from PyPI, and has a small program that
does real work with it (`tests/packages/programs`). Plain Python runs the program, and
so do {interpreters} interpreters of one process at the same time. `ok`: each of them printed what
plain Python did, and the process then ended all of them and exited with status 0.
{ok} of {count} are ok. What follows a "but" works in plain Python only, and the
program leaves it out.

{tables}
"""

_TABLE = """## {kind}

| package | version | result |
|---|---|---|
{rows}
"""


def page(results: dict, interpreters: int) -> str:
    kinds = dict.fromkeys(package.kind for package in results)
    return _PAGE.format(
        python=platform.python_version(),
        machine=platform.machine(),
        interpreters=interpreters,
        ok=sum(not result.cause for result in results.values()),
        count=len(results),
        tables="\n".join(_table(kind, results) for kind in kinds).strip(),
    )


def _table(kind: str, results: dict) -> str:
    rows = [_row(package, result) for package, result in results.items() if package.kind == kind]
    return _TABLE.format(kind=kind, rows="\n".join(sorted(rows, key=str.lower)))


def _row(package, result) -> str:
    cause = " ".join(result.cause.split()).replace("|", "\\|") or "ok"
    if package.only:
        cause += f"; {package.only}"
    return f"| {package.name} | {result.version} | {cause} |"
