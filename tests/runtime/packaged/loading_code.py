"""Objects that are loaded by code of their own, and such as cannot be pickled again."""

import os
import sys
import threading

loads = 0


class Stubborn:
    """What cannot be pickled: an open file, a lock, a function without a name."""

    def __init__(self, weight):
        global loads
        loads += 1
        self.weight = weight
        self.file = open(os.devnull)
        self.lock = threading.Lock()
        self.function = lambda input: input @ weight

    def __call__(self, input):
        with self.lock:
            return self.function(input)

    def loads(self):
        return loads

    def __getstate__(self):
        raise RuntimeError("cannot be pickled again")


class Seed:
    """Pickled as a call that makes a Stubborn."""

    def __init__(self, weight):
        self.weight = weight

    def __reduce__(self):
        return Stubborn, (self.weight,)


class Noted:
    """Brings a text and another pickle of the package along."""

    def __init__(self, text=None, weight=None):
        self.text = text
        self.weight = weight

    def __call__(self, value):
        return self.text + value

    def __reduce_package__(self, exporter):
        exporter.save_text("notes", "noted.txt", self.text)
        exporter.save_pickle("notes", "weight.pkl", self.weight)
        return load_noted, ("noted.txt",)


def load_noted(importer, name):
    return Noted(importer.load_text("notes", name), importer.load_pickle("notes", "weight.pkl"))


class Late:
    """Loads its weight only where the program has said so."""

    weight = None

    def __reduce_package__(self, exporter):
        return load_late, ()


def load_late(importer):
    late = Late()
    if hasattr(sys, "loads_weights"):
        late.weight = importer.load_pickle("notes", "weight.pkl")
    return late


class Choosy:
    """Can be loaded where the program does not forbid it."""

    def __setstate__(self, state):
        if hasattr(sys, "forbids_choosy"):
            raise LookupError("not in this interpreter")
        self.__dict__.update(state)

    def __call__(self, value):
        return value


def make_choosy():
    choosy = Choosy()
    choosy.state = 1  # without any, __setstate__ is not called
    return choosy


class Failing:
    """Its loading says how often it was tried."""

    def __reduce_package__(self, exporter):
        return fail, ()


def fail(importer):
    global loads
    loads += 1
    raise ValueError(f"attempt {loads}")
