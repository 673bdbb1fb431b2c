"""What the programs have in common that compare plain Python with interpreters:
RUN_IN_INTERPRETERS [--interpreters N] [--write FILE] and words of their own."""

import argparse
import pathlib


def parser(description: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("executable", type=pathlib.Path, metavar="RUN_IN_INTERPRETERS")
    made.add_argument("--interpreters", type=int, default=4, metavar="N")
    made.add_argument("--write", type=pathlib.Path, metavar="FILE")
    return made


def parse(complete: argparse.ArgumentParser) -> argparse.Namespace:
    options = complete.parse_intermixed_args()
    options.executable = options.executable.resolve()
    if not options.executable.is_file():
        complete.error(f"no program {options.executable}: it is the build target run_in_interpreters")
    return options
