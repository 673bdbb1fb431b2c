"""That comparing two runs of a suite finds what differs, and what was not run; and that
what differs is run again."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import run
from comparison import compare, read
from parts import Part

PART = Part("cpython", "test_some", timeout=1)
PASSED, FAILED, SKIPPED = ("passed", ""), ("failed", "AssertionError"), ("skipped", "no network")


def journal(*entries, ended=""):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "journal")
        file.write_text("".join(json.dumps(entry) + "\n" for entry in entries), "utf-8")
        return read(file, PART, ended)


class Read(unittest.TestCase):
    def test_whole(self):
        self.assertEqual(journal(["a"], ["a", *PASSED], ["b", *SKIPPED]), {"a": PASSED, "b": SKIPPED})

    def test_ended_in_a_test(self):
        self.assertEqual(
            journal(["a"], ["a", *PASSED], ["b"], ended="SIGKILL"), {"a": PASSED, "b": ("not ended", "SIGKILL")}
        )

    def test_ended_between_tests(self):
        self.assertEqual(
            journal(["a"], ["a", *PASSED], ended="status 3"),
            {"a": PASSED, "the process of test_some": ("not ended", "status 3")},
        )


class Compare(unittest.TestCase):
    def test_same(self):
        tests = {"a": PASSED, "b": SKIPPED, "c": FAILED, "d": ("excluded", "d")}
        result = compare(tests, {name: outcome for name, outcome in tests.items() if name != "d"})
        self.assertEqual((result.passed, result.skipped, result.failed_in_both), (1, 1, ["c"]))
        self.assertEqual((result.excluded, result.differences), ({"d": "d"}, []))

    def test_better_here(self):
        self.assertEqual(compare({"a": FAILED, "b": SKIPPED}, {"a": PASSED, "b": PASSED}).differences, [])

    def test_worse_here(self):
        for before, after in ((PASSED, FAILED), (SKIPPED, FAILED), (PASSED, SKIPPED), (PASSED, ("not ended", "SIGSEGV"))):
            (difference,) = compare({"a": before}, {"a": after}).differences
            self.assertIn(f"a: {before[0]} in plain Python, here {after[0]}", difference)

    def test_not_run_here(self):
        found = {"a": ("not ended", "SIGSEGV")}
        self.assertEqual(compare({"a": FAILED, "b": PASSED, "c": PASSED}, found).differences, ["2 tests were not run here"])

    def test_found_here_only(self):
        self.assertEqual(compare({}, {"a": PASSED}).differences, [])
        self.assertEqual(len(compare({}, {"a": FAILED}).differences), 1)

    def test_not_run_in_plain_python(self):
        # Both sides end in the same test: neither says what comes behind it.
        killed = {"a": PASSED, "b": ("not ended", "was ended by SIGKILL")}
        self.assertEqual(compare(killed, killed).differences, ["b: ends plain Python's process: was ended by SIGKILL"])

    def test_ends_plain_python_alone(self):
        result = compare({"a": ("not ended", "SIGKILL")}, {"a": PASSED, "b": PASSED, "c": FAILED})
        self.assertEqual((result.passed, len(result.differences)), (2, 1))


def compared(*outcomes):
    """(exit status, output) of run.py with one part; `outcomes`: what _run() gives, in order."""
    with (
        mock.patch.object(sys, "argv", ["run.py", sys.executable, PART.name]),
        mock.patch.object(run.parts, "choose", lambda names: [PART]),
        mock.patch.object(run.exclusions, "load", dict),
        mock.patch.object(run, "_run", side_effect=outcomes) as ran,
        contextlib.redirect_stdout(io.StringIO()) as output,
    ):
        status = run.main()
    assert ran.call_count == len(outcomes), f"{ran.call_count} runs, expected {len(outcomes)}"
    return status, output.getvalue()


class RunAgain(unittest.TestCase):
    """Each time plain Python first, then the interpreter."""

    BOTH = {"a": PASSED, "b": PASSED}
    A, B = "a: passed in plain Python, here failed", "b: passed in plain Python, here failed"

    def test_only_what_differs(self):
        status, output = compared(self.BOTH, self.BOTH)
        self.assertEqual((status, output.count("\n")), (0, 1))

    def test_differs_only_at_first(self):
        status, output = compared(self.BOTH, {"a": FAILED, "b": PASSED}, self.BOTH, self.BOTH)
        self.assertEqual(status, 0)
        self.assertIn(f"  only at first: {self.A}", output)
        self.assertNotIn("DIFFER", output)

    def test_differs_again(self):
        status, output = compared(self.BOTH, {"a": FAILED, "b": FAILED}, self.BOTH, {"a": PASSED, "b": FAILED})
        self.assertEqual(status, 1)
        self.assertIn(f"  {self.B}", output)
        self.assertIn(f"  only at first: {self.A}", output)
        self.assertNotIn(f"only at first: {self.B}", output)

    def test_differs_elsewhere(self):
        status, output = compared(self.BOTH, {"a": FAILED, "b": PASSED}, self.BOTH, {"a": PASSED, "b": FAILED})
        self.assertEqual(status, 1)
        self.assertIn(f"  {self.B}", output)
        self.assertIn(f"  only at first: {self.A}", output)


if __name__ == "__main__":
    unittest.main()
