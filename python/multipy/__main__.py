"""`multipy` and `python -m multipy`: the installed command line program, for the
environment that this Python runs in."""

import os
import sys

import multipy


def main() -> int:
    try:
        prefix = multipy.cmake_prefix_path
    except AttributeError as error:
        print(f"multipy: {error}", file=sys.stderr)
        return 1
    if sys.argv[1:] == ["--cmake-prefix-path"]:
        print(prefix)
        return 0
    if sys.prefix != sys.base_prefix:  # also where its environment is not active
        os.environ["VIRTUAL_ENV"] = sys.prefix
    program = os.path.join(prefix, "bin", "multipy")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
