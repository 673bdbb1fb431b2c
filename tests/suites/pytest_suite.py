"""The tests that a package brings along, run by pytest."""

import importlib
import pathlib

import exclusions
import pytest


class Reporter:
    """Of pytest: leaves tests out, and tells the journal of the others."""

    def __init__(self, excluded, journal):
        self._excluded, self._journal = excluded, journal

    def _name(self, node):
        """numpy/linalg/tests/test_linalg.py::TestX::test_y -> numpy.linalg.tests.test_linalg.TestX.test_y"""
        path, *rest = node.split("::")
        return ".".join([path.removesuffix(".py").replace("/", "."), *rest])

    def pytest_collection_modifyitems(self, config, items):
        out = {}
        for item in items:
            name = self._name(item.nodeid)
            if excluded := exclusions.name_for(name, self._excluded):
                out[item] = excluded
                self._journal.ended(name, "excluded", excluded)
        items[:] = [item for item in items if item not in out]
        config.hook.pytest_deselected(items=list(out))

    def pytest_collectreport(self, report):
        if report.outcome != "passed":
            self._journal.ended(self._name(report.nodeid), report.outcome, str(report.longrepr))

    def pytest_runtest_logstart(self, nodeid):
        self._journal.started(self._name(nodeid))

    def pytest_runtest_logreport(self, report):
        outcome = report.outcome
        if outcome == "skipped" and hasattr(report, "wasxfail"):
            outcome = "passed"  # as expected
        if report.when == "call" or outcome != "passed":
            self._journal.ended(self._name(report.nodeid), outcome, str(report.longrepr or ""))


def run(part, excluded, journal):
    """`part` is a folder of tests, as a package: numpy.linalg.tests."""
    names = part.split(".")
    root = pathlib.Path(importlib.import_module(names[0]).__path__[0]).parent
    # As numpy.test() does, less what it prints; from the folder of all packages, so that
    # tests have the same names everywhere. Their files, some of gigabytes, go with the job's
    # folder: elsewhere pytest keeps those of three runs.
    temporary = str(pathlib.Path("pytest").absolute())
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(root), "--basetemp", temporary]
    code = pytest.main([*options, str(root.joinpath(*names))], plugins=[Reporter(excluded, journal)])
    finished = code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    journal.ended(f"pytest of {part}", "passed" if finished else "not ended", f"exit status {code}")
