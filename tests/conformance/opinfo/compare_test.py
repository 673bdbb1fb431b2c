"""That the comparison finds what it is there to find."""

import unittest

from compare import Comparison, differing
from form import difference, without_bits

A = "float32[2]<1>#0123456789abcdef"
B = "float32[2]<1>#fedcba9876543210"
OTHER_SHAPE = "float32[3]<1>#0123456789abcdef"


def compared(expected, found, varying=frozenset()):
    comparison = Comparison(varying)
    comparison.add("here", expected, found)
    return dict(comparison.counts), len(comparison.failures)


class ComparisonTest(unittest.TestCase):
    def test_equal(self):
        results = {"sin float32": {"call 0": A, "error 0": "! ValueError: no"}}
        self.assertEqual(compared(results, results), ({"equal": 1, "equal errors": 1}, 0))

    def test_one_bit(self):
        self.assertEqual(
            compared({"sin float32": {"call 0": A}}, {"sin float32": {"call 0": B}}), ({"DIFFERENT": 1}, 1)
        )

    def test_error_in_place_of_a_result(self):
        found = {"sin float32": {"call 0": "! RuntimeError: no"}}
        self.assertEqual(compared({"sin float32": {"call 0": A}}, found), ({"DIFFERENT": 1}, 1))

    def test_missing(self):
        whole = {"sin float32": {"call 0": A, "call 1": A}}
        for part in ({}, {"sin float32": {"call 0": A}}):
            for expected, found in ((whole, part), (part, whole)):
                with self.subTest(expected=expected):
                    self.assertIn("DIFFERENT", compared(expected, found)[0])

    def test_new_memory(self):
        expected, found = {"empty float32": {"call 0": A}}, {"empty float32": {"call 0": B}}
        varying = differing(expected, found)
        self.assertEqual(varying, {("empty float32", "call 0")})
        counts, failures = compared(expected, found, varying)
        self.assertEqual((sum(counts.values()), failures), (1, 0))
        # Its shape must be right all the same,
        other = {"empty float32": {"call 0": OTHER_SHAPE}}
        self.assertEqual(compared(expected, other, varying), ({"DIFFERENT": 1}, 1))
        # so must be the elements where plain Python agrees with itself,
        self.assertEqual(compared(expected, found), ({"DIFFERENT": 1}, 1))
        # and an operator that varies without being listed is reported.
        unlisted = ({"sin float32": {"call 0": A}}, {"sin float32": {"call 0": B}})
        self.assertEqual(compared(*unlisted, differing(*unlisted)), ({"DIFFERENT": 1}, 1))

    def test_without_order(self):
        name = "meshgrid.list_of_tensors float32"
        expected = {name: {"call 0": A, "call 1": OTHER_SHAPE}}
        self.assertEqual(compared(expected, {name: {"call 0": OTHER_SHAPE, "call 1": B}})[1], 0)
        self.assertEqual(compared(expected, {name: {"call 0": A, "call 1": A}}), ({"DIFFERENT": 2}, 1))


class FormTest(unittest.TestCase):
    def test_without_bits_keeps_the_rest(self):
        self.assertEqual(without_bits(f"tuple({A}, {B})"), "tuple(float32[2]<1>#, float32[2]<1>#)")

    def test_difference_shows_both(self):
        shown = difference("x" * 1000 + A, "x" * 1000 + B)
        self.assertIn("0123456789abcdef", shown)
        self.assertIn("fedcba9876543210", shown)


if __name__ == "__main__":
    unittest.main()
