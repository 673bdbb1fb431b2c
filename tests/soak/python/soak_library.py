"""The standard library: what has state in C, in the process, or in the interpreter."""

import copy
import ctypes
import datetime
import decimal
import gc
import hashlib
import io
import locale
import logging
import os
import pickle
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import weakref
import zlib


class Node:
    """Refers to itself, so that only the garbage collector ends it."""

    def __init__(self):
        self.self = self


def collected(count):
    """How many callbacks of weak references came for `count` objects in cycles."""
    seen = []
    references = [weakref.ref(Node(), seen.append) for _ in range(count)]
    # A collection that another thread has under way makes ours end at once.
    deadline = time.monotonic() + 60
    while len(seen) < count and time.monotonic() < deadline:
        gc.collect()
    assert all(reference() is None for reference in references)
    return len(seen)


def logged(text):
    """What a logger of its own writes."""
    stream = io.StringIO()
    logger = logging.Logger("soak")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.warning("%s", text)
    logger.debug("at level %d", logging.DEBUG)
    return stream.getvalue()


def print_lines(token, count):
    """To stdout and stderr, each line by one write, so that those of other threads stay apart."""
    for i in range(count):
        for stream in sys.stdout, sys.stderr:
            stream.write(f"{token} {i}\n")


def environment(name, value):
    """A variable set, seen by C code and by a child of os.environ, and removed."""
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    os.environ[name] = value
    seen = [os.environ[name], getenv(name.encode()).decode()]
    del os.environ[name]
    return seen + [str(name in os.environ)]


def times(seconds):
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    assert moment.timestamp() == seconds
    return time.strftime("%Y-%m-%d %H:%M:%S %j", time.gmtime(seconds))


def formatted(number):
    """By the locale of the process, which is C's for numbers."""
    assert locale.localeconv()["decimal_point"] == "."
    return locale.format_string("%.3f", number)


def words_of(text):
    """Number and letters of the words in a text like `12ab-3c`."""
    return [word for pair in re.findall(r"(\d+)([a-z]+)", text) for word in pair]


def pickled(value):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(value, protocol)) == value
    assert copy.deepcopy(value) == value
    return pickle.loads(pickle.dumps(value))


def sorted_by_c(numbers):
    """By C's qsort, which calls Python's comparison."""
    array = (ctypes.c_int * len(numbers))(*numbers)
    comparison = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.POINTER(ctypes.c_int)] * 2)
    ctypes.CDLL(None).qsort(array, len(numbers), ctypes.sizeof(ctypes.c_int),
                            comparison(lambda a, b: a[0] - b[0]))
    return list(array)


def checksums(megabytes, byte):
    """crc32 and SHA-256 of a big buffer that has been compressed and decompressed."""
    data = bytes([byte]) * (megabytes << 20)
    again = zlib.decompress(zlib.compress(data, 1))
    assert again == data
    return [zlib.crc32(again), hashlib.sha256(again).hexdigest()]


def decimals(digits):
    with decimal.localcontext() as context:
        context.prec = digits
        return str(decimal.Decimal(1) / decimal.Decimal(3))


def table(count):
    with sqlite3.connect(":memory:") as database:
        database.execute("create table numbers (n integer)")
        database.executemany("insert into numbers values (?)", ((n,) for n in range(count)))
        (total,) = database.execute("select sum(n) from numbers").fetchone()
    database.close()
    return total


def through_a_file(text):
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        file.write(text)
        file.seek(0)
        return file.read()


def child_process(text):
    done = subprocess.run(["/bin/echo", "-n", text], check=True, capture_output=True)
    return done.stdout.decode()
