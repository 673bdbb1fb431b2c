"""Tells in which tests two runs differ: compare_cases.py OURS.json OTHERS.json. Ends with 1 if ours has failed where
the other one has not."""

import collections
import json
import sys


def main():
    ours, others = (json.load(open(path)) for path in sys.argv[1:])
    print("ours:", dict(collections.Counter(ours.values())))
    print("the others:", dict(collections.Counter(others.values())))
    worse = 0
    for name in sorted(ours.keys() | others.keys()):
        here, there = ours.get(name, "not run"), others.get(name, "not run")
        if here != there:
            print(f"{name}: {here}, with the others {there}")
            worse += here in ("failed", "not run")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
