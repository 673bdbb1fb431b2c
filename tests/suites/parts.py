"""The suites and their parts."""

import dataclasses
import importlib.util
import pathlib
import sys

SUITES = ["cpython", "numpy", "scipy"]
# Of scipy two large subpackages, which have about half of its compiled code.
_PACKAGES = {"numpy": ["numpy"], "scipy": ["scipy.linalg", "scipy.sparse"]}


@dataclasses.dataclass(frozen=True)
class Part:
    suite: str
    name: str
    timeout: int  # seconds; of one process

    @property
    def module(self) -> str:
        """By which it may be excluded."""
        return f"test.{self.name}" if self.suite == "cpython" else self.name


def choose(names) -> list[Part]:
    """Parts of these names, or in them. Exits with a message if there are none."""
    chosen = {}
    for name in names:
        suite = name if name in SUITES else "cpython" if name.startswith("test_") else name.split(".")[0]
        if suite not in SUITES:
            sys.exit(f"run.py: no suite {name}; there are {', '.join(SUITES)}")
        found = [part for part in _all(suite) if name == suite or (part.name + ".").startswith(name + ".")]
        if not found:
            sys.exit(f"run.py: no part {name} in the suite of {suite}: this Python ({sys.executable}) does not have it")
        chosen.update(dict.fromkeys(found))
    return list(chosen)


def _all(suite) -> list[Part]:
    if suite == "cpython":
        return [Part(suite, name, 600) for name in _modules_of_cpython()]
    return [Part(suite, name, 3600) for package in _PACKAGES[suite] for name in _tests_in(package)]


def _modules_of_cpython():
    folder = _folder("test")
    names = {path.stem for path in folder.glob("test_*") if path.suffix in (".py", "")}
    # It is by far the largest.
    names.discard("test_asyncio")
    names.update(f"test_asyncio.{path.stem}" for path in folder.glob("test_asyncio/test_*.py"))
    return sorted(names)


def _tests_in(package):
    """numpy.linalg.tests and the like: all that numpy.test() finds."""
    folder = _folder(package)
    folders = {path.parent.relative_to(folder) for path in folder.rglob("tests/test_*.py")}
    return sorted(".".join([package, *path.parts]) for path in folders)


def _folder(package) -> pathlib.Path:
    found = importlib.util.find_spec(package)
    if found is None:
        sys.exit(f"run.py: no package {package} in {sys.prefix}")
    return pathlib.Path(found.submodule_search_locations[0])
