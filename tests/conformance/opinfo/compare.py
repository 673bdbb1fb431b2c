"""Compares torch's own samples in N interpreters at once with plain Python.

    python compare.py --executable .../run_in_interpreters [options]

Plain Python runs them twice, with differently filled memory, so that what does
not even agree with itself is known (and must be listed below); then N
interpreters of one process run them at once. Exit status 1 if anything differs
that is not explained. report.py says what is run.
"""

import argparse
import collections
import json
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import runner  # noqa: E402
from opinfo.form import difference, without_bits  # noqa: E402

KINDS = ("ops", "modules", "optimizers")
TIMEOUT = 3 * 3600  # seconds

# Operators with results that depend on what was in memory before. Those of their
# cases in which plain Python was seen to disagree with itself are compared
# without the elements, all others in full.
NEW_MEMORY = "elements of new memory"
PIVOTS = "LAPACK's gelsy reads the pivots it is given; torch gives it new memory"
UNSETTLED = {
    "empty": NEW_MEMORY,
    "empty_like": NEW_MEMORY,
    "empty_permuted": NEW_MEMORY,
    "empty_strided": NEW_MEMORY,
    "new_empty": NEW_MEMORY,
    "new_empty_strided": NEW_MEMORY,
    "linalg.lstsq": PIVOTS,
    "linalg.lstsq.grad_oriented": PIVOTS,
}

# Their samples come in the order of a set of strings, which is another one in
# each start of Python. Compared without the elements and without the order.
UNORDERED = {"meshgrid.list_of_tensors", "meshgrid.variadic_tensors"}

# How plain Python's memory is filled: glibc takes the byte's complement, so the
# second one gives zeros.
FILLS = ("17", "255")


class Comparison:
    """Of what some Pythons found with what was expected.

    `varying` has the (subject, case) in which plain Python disagrees with itself, as `unsettled`
    ones may; all of them where that is None: some kernels of GPUs add in any order.
    """

    def __init__(self, varying=frozenset(), unsettled=UNSETTLED):
        self.varying = varying
        self.unsettled = unsettled
        self.counts = collections.Counter()
        self.failures = []  # (where, subject, case, expected, found)

    def add(self, where, expected, found):
        for subject in expected.keys() | found.keys():
            a, b = expected.get(subject, {}), found.get(subject, {})
            if _operator(subject) in UNORDERED:
                self._unordered(where, subject, a, b)
            else:
                for case in a.keys() | b.keys():
                    self._case(where, subject, case, a.get(case, "no such case"), b.get(case, "no such case"))

    def _case(self, where, subject, case, a, b):
        if a == b:
            self.counts["equal errors" if a.startswith("!") else "equal"] += 1
        elif self._may_vary(subject, case) and without_bits(a) == without_bits(b):
            reason = UNSETTLED.get(_operator(subject), "elements that plain Python computes otherwise each time")
            self.counts[f"equal but for {reason}"] += 1
        else:
            self._differs(1, where, subject, case, a, b)

    def _may_vary(self, subject, case):
        may = self.unsettled is None or _operator(subject) in self.unsettled
        return may and (subject, case) in self.varying

    def _unordered(self, where, subject, expected, found):
        a, b = (sorted(map(without_bits, results.values())) for results in (expected, found))
        if a == b:
            self.counts["equal without elements and order"] += len(a)
        else:
            self._differs(len(a), where, subject, "all cases", "\n".join(a), "\n".join(b))

    def _differs(self, number, *failure):
        self.counts["DIFFERENT"] += number
        self.failures.append(failure)


def differing(expected, found):
    """{(subject, case)} of two reports"""
    return {
        (subject, case)
        for subject in expected.keys() & found.keys()
        for case in expected[subject].keys() & found[subject].keys()
        if expected[subject][case] != found[subject][case]
    }


def _operator(subject):
    return subject.rpartition(" ")[0]  # without the dtype


def compare(options):
    """-> whether all that differs is explained"""
    arguments = [options.kinds, "--dtypes", options.dtypes, "--slice", options.slice, "--only", options.only]
    arguments += ["--seed", str(options.seed), "--device", options.device]
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    module, paths = "opinfo.report", [HERE.parent]

    def plain(fill):
        filled = dict(environment, MALLOC_PERTURB_=fill)
        return json.loads(runner.plain(module, arguments, paths, timeout=TIMEOUT, environment=filled))

    expected, again = map(plain, FILLS)
    started = time.monotonic()
    failures = []
    try:
        made = runner.in_interpreters(
            options.executable,
            module,
            [*arguments, "--anywhere"],
            paths,
            interpreters=options.interpreters,
            rounds=options.rounds,
            timeout=TIMEOUT,
            environment=environment,
        )
    except (runner.CrashError, runner.TimeoutError) as error:
        failures.append(("all interpreters", "the process", "", "an ordinary end", str(error)))
        made = error.reports  # those made before
    found = {where: json.loads(report) for where, report in made.items()}
    print(
        f"{options.interpreters} interpreters at once, {options.rounds} times, {time.monotonic() - started:.0f} s; "
        f"reports of the {len(found)} together:"
    )
    for kind, results in expected.items():
        varying = differing(results, again[kind])
        unsettled = UNSETTLED if options.device == "cpu" else None
        itself = Comparison(varying, unsettled)
        itself.add("plain Python, once more", results, again[kind])
        comparison = Comparison(varying, unsettled)
        for (number, interpreter), reported in sorted(found.items()):
            comparison.add(f"round {number}, interpreter {interpreter}", results, reported[kind])
        failures += itself.failures + comparison.failures
        counts = ", ".join(f"{count} {what}" for what, count in sorted(comparison.counts.items()))
        print(f"{kind}: {len(results)} subjects with {sum(map(len, results.values()))} cases: {counts}")
    show(failures)
    return not failures


def show(failures):
    by_subject = collections.defaultdict(list)
    for where, subject, *rest in failures:
        by_subject[subject].append((where, *rest))
    for subject, some in sorted(by_subject.items()):
        print(f"  {subject}: {len(some)} differ")
        for where, case, expected, found in some[:3]:
            print(f"    {case} ({where})\n{difference(expected, found, indent=6)}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--executable", required=True, type=os.path.abspath, help="run_in_interpreters")
    parser.add_argument("--interpreters", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=1, help="times that the same interpreters run everything")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--dtypes", default="float32", help="e.g. bfloat16,complex64,int64; default: float32")
    parser.add_argument("--device", default="cpu", help="where the samples are, such as cuda")
    parser.add_argument("--slice", default="0/1", help="i/n: every n-th operator, from the i-th")
    parser.add_argument("--only", default="", help="regular expression of names, e.g. '^linalg'")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    return 0 if compare(options) else 1


if __name__ == "__main__":
    sys.exit(main())
