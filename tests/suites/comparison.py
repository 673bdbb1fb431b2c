"""What became of a part's tests in the interpreter, compared with plain Python."""

import dataclasses
import json


@dataclasses.dataclass
class Result:
    """What became of one part's tests in the interpreter."""

    passed: int = 0
    skipped: int = 0
    failed_in_both: list[str] = dataclasses.field(default_factory=list)
    excluded: dict[str, str] = dataclasses.field(default_factory=dict)  # by which name
    differences: list[str] = dataclasses.field(default_factory=list)
    only_at_first: list[str] = dataclasses.field(default_factory=list)  # not when run again
    seconds: float = 0  # in the interpreter

    def __str__(self):
        counts = [f"{self.passed} passed", f"{self.skipped} skipped"]
        for count, what in (
            (len(self.failed_in_both), "fail in plain Python, too"),
            (len(self.excluded), "excluded"),
            (len(self.differences), "DIFFER"),
        ):
            counts += [f"{count} {what}"] if count else []
        return f"{', '.join(counts)} ({self.seconds:.0f} s)"


def read(journal, part, ended) -> dict:
    """{test: (outcome, why)}. `ended`: how the process did, nothing if as it should."""
    tests = {}
    running = None
    for line in journal.read_text("utf-8").splitlines() if journal.exists() else []:
        test, *outcome = json.loads(line)
        running = None if outcome else test
        if outcome:
            tests[test] = tuple(outcome)
    if running or ended:
        tests[running or f"the process of {part.name}"] = ("not ended", ended)
    return tests


def compare(expected, found) -> Result:
    """Of what read() returns for plain Python and for the interpreter."""
    result = Result()
    not_run = 0
    for test in expected | found:
        (before, name), (after, why) = expected.get(test, _ABSENT), found.get(test, _ABSENT)
        if before == "excluded":
            result.excluded[test] = name
        elif after == "passed":
            result.passed += 1
        elif after == "skipped" and before != "passed":
            result.skipped += 1
        elif before == "not ended":
            # Who knows what would have come behind it? It takes a name in excluded.txt.
            result.differences.append(f"{test}: ends plain Python's process{_told(name)}")
        elif before == "failed":
            result.failed_in_both.append(test)
        elif after == "not run":
            not_run += 1
        else:
            result.differences.append(f"{test}: {before} in plain Python, here {after}{_told(why)}")
    if not_run:
        result.differences.append(f"{not_run} tests were not run here")
    return result


_ABSENT = ("not run", "")


def _told(why):
    return ": " + "\n    ".join(why.strip().splitlines()[-12:]) if why.strip() else ""
