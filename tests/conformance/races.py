"""Lists the places of data races in Helgrind's reports, most frequent first.

    python races.py REPORT...

Exit status 2 if none is a report of Helgrind's to its end.
"""

import collections
import pathlib
import re
import sys

_RACE = re.compile(r"Possible data race during (read|write) of size \d+")
_FRAME = re.compile(r"(?:at|by) 0x[0-9A-F]+: (.*) \((?:in )?(.*?)\)$")


def places(report):
    """(what, function, caller) of each race in the text of one report."""
    what = None  # while between "Possible data race" and its second frame
    for line in report.splitlines():
        if race := _RACE.search(line):
            what, frames = race[1], []
        elif what and (frame := _FRAME.search(line)):
            function, file = frame.groups()
            frames.append(f"{function[:100]} [{pathlib.PurePath(file).name}]")
            if len(frames) == 2:
                yield what, *frames
                what = None


def main(paths):
    reports = [pathlib.Path(path).read_text("utf-8", "replace") for path in paths]
    if not any("Helgrind, a" in report and "ERROR SUMMARY" in report for report in reports):
        print(f"no whole report of Helgrind's in {' '.join(paths) or 'no file'}", file=sys.stderr)
        return 2
    found = collections.Counter(place for report in reports for place in places(report))
    for (what, function, caller), count in found.most_common():
        print(f"{count:5} {what:5} {function} < {caller}")
    print(f"{len(found)} places")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
