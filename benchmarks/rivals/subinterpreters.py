"""A rival that cannot run: CPython's own subinterpreters, each with its own GIL (3.12 and
later). Tries to import what models need in one of them, and says what Python says.

    python3.13 subinterpreters.py numpy torch
"""

import sys

if sys.version_info >= (3, 14):
    from concurrent.interpreters import create
elif sys.version_info >= (3, 13):
    import _interpreters
elif sys.version_info >= (3, 12):
    import _xxsubinterpreters as _interpreters
else:
    sys.exit(f"Python {sys.version_info.major}.{sys.version_info.minor} has no subinterpreters with GILs of their own")

TRY = """
try:
    import {module}
except ImportError as error:
    first = error
    while first.__cause__ or first.__context__:
        first = first.__cause__ or first.__context__
    result = f"{{type(first).__name__}}: {{first}}"
else:
    result = "can be imported"
print("{module}:", result, flush=True)
"""


def main(modules: list[str]) -> None:
    for module in modules:
        code = TRY.format(module=module)
        if sys.version_info >= (3, 14):
            create().exec(code)
        else:
            failed = _interpreters.run_string(_interpreters.create(), code)
            if failed is not None:
                sys.exit(f"the attempt itself failed: {failed}")


if __name__ == "__main__":
    main(sys.argv[1:])
