"""Fails unless every extension module of the standard library was built.

    ./python check_modules.py SOURCE_TREE modules.txt

Run by the CPython just built, from its build folder. What there should be is
read from the source itself (Modules/Setup*, the same lists that its build uses),
so that a module that is new in some version is not forgotten; modules.txt only
says which package helps. Each module is imported, since a module can be built
and still not load.
"""
import importlib
import pathlib
import re
import sys

# Not for Linux, or not part of the library: examples and modules for tests.
ELSEWHERE = {"_scproxy", "_winapi", "_wmi", "_overlapped", "msvcrt", "winreg", "winsound"}
FOR_TESTS = re.compile(r"_?xx(limited|limited_35|subtype|module|testfuzz)|_test\w*|_ctypes_test")


def expected(source: pathlib.Path) -> set[str]:
    """Names of all modules that Modules/Setup* can build."""
    names = set()
    for file in ("Setup.bootstrap.in", "Setup.stdlib.in"):
        for line in (source / "Modules" / file).read_text().splitlines():
            match = re.match(r"(?:#\s*)?(?:@MODULE_\w+_TRUE@)?(\w+)\s+[\w/.-]+\.c\b", line)
            if match:
                names.add(match.group(1))
    if len(names) < 50:
        sys.exit(f"{source}/Modules/Setup*.in list {len(names)} modules, expected more than 50: "
                 "this is no CPython source that check_modules.py can read")
    return {n for n in names if n not in ELSEWHERE and not FOR_TESTS.fullmatch(n)}


def packages(table: pathlib.Path) -> dict[str, list[str]]:
    lines = (line.split() for line in table.read_text().splitlines() if not line.startswith("#"))
    return {words[0]: words[1].split(",") for words in lines if words}


def main() -> None:
    source, table = map(pathlib.Path, sys.argv[1:])
    helps = packages(table)
    missing = {}
    names = expected(source)
    for name in sorted(names):
        try:
            importlib.import_module(name)
        except ImportError as error:
            missing[name] = error
    if not missing:
        print(f"all {len(names)} extension modules are there")
        return
    for name, error in missing.items():
        print(f"  {name}: {error}", file=sys.stderr)
    wanted = sorted({package for name in missing for package in helps.get(name, [])})
    text = f"error: {len(missing)} of {len(names)} extension modules were not built: {', '.join(missing)}."
    if wanted:
        text += f"\nOn Debian and Ubuntu: apt-get install {' '.join(wanted)}" \
                " (which also updates those that are there but too old)"
    unknown = [name for name in missing if name not in helps]
    if unknown:
        text += f"\nWhy {', '.join(unknown)} is missing, make.log in the build folder says."
    sys.exit(text)


main()
