"""Functions that fail, each in its own way."""

import json
import sys


class OwnError(Exception):
    pass


def value_error(text):
    raise ValueError(text)


def own_error(text):
    raise OwnError(text)


def chained(text):
    try:
        raise KeyError(text)
    except KeyError as error:
        raise OSError("outer " + text) from error


def has_groups():
    return sys.version_info >= (3, 11)


def group(text):
    raise ExceptionGroup("several", [ValueError(text), TypeError(text)])


def recurse(depth):
    return recurse(depth + 1) + 1


def recurse_to(depth):
    return 0 if depth == 0 else recurse_to(depth - 1) + 1


def leave(status):
    sys.exit(status)


def interrupt():
    raise KeyboardInterrupt


def nested_json(depth):
    """How deep the brackets are; RecursionError where they are too deep."""
    value, found = json.loads("[" * depth + "]" * depth), 0
    while value:
        value, found = value[0], found + 1
    return found + 1


def nested_list(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def nested_repr(depth):
    return len(repr(nested_list(depth)))


def import_missing(name):
    __import__(name)


def not_convertible():
    return object()


def huge_number():
    return 1 << 70


def caught(text):
    """An error that is caught in here leaves nothing behind."""
    try:
        value_error(text)
    except ValueError as error:
        return f"{type(error).__name__}: {error}"
