"""A module of CPython's regression suite, run the way `python -m test` runs it."""

import importlib
import sys
import traceback
import unittest

import exclusions
import test.support


class Result(unittest.TestResult):
    """Tells the journal. Of a test with several failures the last one."""

    def __init__(self, journal):
        super().__init__()
        self.buffer = True  # as python -m test does when it tells of failures only
        self._journal = journal

    def startTest(self, test):
        super().startTest(test)
        self._name = test.id()  # now: some tests have an attribute `id` of their own
        self._outcome = None
        self._journal.started(self._name)

    def stopTest(self, test):
        super().stopTest(test)
        self._journal.ended(self._name, *self._outcome)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._outcome = ("passed",)

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self._outcome = ("passed",)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._outcome = ("failed", "succeeded, which it is expected not to")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if isinstance(test, unittest.suite._ErrorHolder):
            self._journal.ended(test.id(), "skipped", reason)  # a whole class or module
        elif self._outcome is None:
            self._outcome = ("skipped", reason)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._failed(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self._failed(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._failed(test, error)

    def _failed(self, test, error):
        why = "".join(traceback.format_exception(*error))
        if isinstance(test, unittest.suite._ErrorHolder):  # setUpClass and its like
            self._journal.ended(test.id(), "failed", why)
        else:
            self._outcome = ("failed", why)


def run(part, excluded, journal):
    test.support.use_resources = []  # those that python -m test takes without being asked
    test.support.record_original_stdout(sys.stdout)
    name = f"test.{part}"
    try:
        suite = unittest.TestLoader().loadTestsFromModule(importlib.import_module(name))
    except unittest.SkipTest as skip:
        journal.ended(name, "skipped", str(skip))
        return
    except test.support.ResourceDenied as denied:
        journal.ended(name, "skipped", str(denied))
        return
    except Exception:
        journal.ended(name, "failed", traceback.format_exc())
        return
    _leave_out(suite, name if name in excluded else None, excluded, journal)
    suite(Result(journal))
    test.support.reap_children()


def _leave_out(suite, whole, excluded, journal):
    """`whole`: the module's own name, if it is excluded. Its tests may have other names."""
    kept = []
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            _leave_out(each, whole, excluded, journal)
            kept.append(each)
        elif name := whole or exclusions.name_for(each.id(), excluded):
            journal.ended(each.id(), "excluded", name)
        else:
            kept.append(each)
    suite._tests = kept
