"""A pytest plugin: --cases FILE becomes a JSON file, what came of each test, for compare_cases.py."""

import json


def pytest_addoption(parser):
    parser.addoption("--cases")


def pytest_configure(config):
    config.pluginmanager.register(_Cases(config.getoption("cases")), "cases")


class _Cases:
    def __init__(self, path):
        self._path = path
        self._found = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            outcome = "expected failure" if hasattr(report, "wasxfail") and report.skipped else report.outcome
            if self._found.get(report.nodeid) != "failed":  # in an earlier phase
                self._found[report.nodeid] = outcome

    def pytest_sessionfinish(self):
        with open(self._path, "w") as file:
            json.dump(self._found, file, indent=1, sort_keys=True)
