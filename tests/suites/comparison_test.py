"""That comparing two runs of a suite finds what differs, and what was not run."""

import json
import pathlib
import tempfile
import types
import unittest

from comparison import compare, read

PART = types.SimpleNamespace(name="test_some")
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


if __name__ == "__main__":
    unittest.main()
