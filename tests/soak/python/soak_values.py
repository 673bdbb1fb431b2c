"""Values that go through Python, and the names and objects that calls need."""

import struct


def echo(value):
    return value


def canonical(value):
    """A text of the value that C++ writes alike (nested_values.cpp), with its types."""
    if value is None:
        return "N"
    if isinstance(value, bool):
        return "T" if value else "F"
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return "f%016x" % struct.unpack("<Q", struct.pack("<d", value))[0]
    if isinstance(value, str):
        return f"s{len(value.encode())}:{value}"
    if isinstance(value, (list, tuple)):
        text = ",".join(canonical(item) for item in value)
        return f"[{text}]" if isinstance(value, list) else f"({text})"
    if isinstance(value, dict):
        items = sorted(f"{canonical(key)}={canonical(item)}" for key, item in value.items())
        return "{" + ",".join(items) + "}"
    raise TypeError(f"not expected here: {type(value)}")


def join(first, second="-", *, third="."):
    return f"{first}{second}{third}"


def reversed_text(text):
    return text[::-1]


def add(first, second):
    return first + second


def squares(count):
    for i in range(count):
        yield i * i


class Counter:
    """Has a state, so that two that are mixed up answer differently."""

    live = 0

    def __init__(self, start):
        Counter.live += 1
        self.start = start

    def __del__(self):
        Counter.live -= 1

    def __call__(self, step):
        return self.start + step

    def text(self):
        return f"counter {self.start}"
