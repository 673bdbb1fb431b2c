"""That comparing reports finds what differs, and refuses what proves nothing."""

import copy
import unittest

from comparison import compare, flaw

TENSOR = {
    "shape": [3],
    "dtype": "torch.float32",
    "digest": "0a",
    "finite": True,
    "distinct": 3,
    "samples": [0.0, 1.0, 2.0],
}
REPORT = {
    "parameters": 7,
    "weights": "0b",
    "outputs": {"logits": TENSOR},
    "gradients": {"count": 2, "digest": "0c", "finite": True},
    "generated": {"tokens": [[5, 6]], "logits": dict(TENSOR)},
}


def changed(*path, to):
    report = copy.deepcopy(REPORT)
    place = report
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = to
    return report


class Comparison(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(compare(REPORT, copy.deepcopy(REPORT)), "")

    def test_every_part_counts(self):
        for part in ("weights", "gradients"):
            self.assertEqual(compare(REPORT, changed(part, to="other")), f"{part} differ")
        self.assertIn("tokens ([[5, 7]] for [[5, 6]])", compare(REPORT, changed("generated", "tokens", to=[[5, 7]])))
        self.assertIn("logits", compare(REPORT, changed("generated", to={})))

    def test_one_bit_counts(self):
        other = changed("outputs", "logits", "digest", to="0d")
        self.assertEqual(compare(REPORT, other), "outputs differ: logits (by up to 0 in 3 sampled values)")
        other["outputs"]["logits"]["samples"] = [0.0, 1.5, 2.0]
        self.assertEqual(compare(REPORT, other), "outputs differ: logits (by up to 0.5 in 3 sampled values)")

    def test_an_error_is_the_difference(self):
        self.assertEqual(compare(REPORT, {"error": "TypeError: no"}), "TypeError: no")


class Flaw(unittest.TestCase):
    def test_none(self):
        self.assertEqual(flaw(REPORT), "")

    def test_what_proves_nothing(self):
        for report, why in (
            ({"error": "TypeError: no"}, "TypeError: no"),
            (changed("outputs", to={}), "nothing was computed"),
            (changed("gradients", "count", to=0), "nothing was computed"),
            (changed("gradients", "finite", to=False), "not finite"),
            (changed("outputs", "logits", "finite", to=False), "not finite"),
            (changed("outputs", "logits", "distinct", to=1), "constant"),
        ):
            self.assertIn(why, flaw(report))


if __name__ == "__main__":
    unittest.main()
