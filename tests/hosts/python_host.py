"""What run_in_interpreters does, in a Python process that is one of those that report.

    python_host.py LIBRARY before|after OPTIONS-OF-RUN_IN_INTERPRETERS

LIBRARY is run_in_interpreters as a shared library. Of N interpreters the last one is this
process's own Python: it imports torch before there are any others, and reports at the same time as
they do; or after they have reported, and again at the same time as N - 1 new ones.
"""

import ctypes
import importlib
import pathlib
import sys
import threading


class Options:
    def __init__(self, words):
        self.words = list(words)
        self.rounds, self.paths = 1, []
        at = 0
        while self.words[at].startswith("--"):
            name, value = self.words[at : at + 2]
            if name == "--interpreters":
                self.own = int(value) - 1
                self.words[at + 1] = str(self.own)
            elif name == "--rounds":
                self.rounds = int(value)
            elif name == "--report":
                self.folder = pathlib.Path(value)
            elif name == "--path":
                self.paths.append(value)
            at += 2
        self.module, *self.arguments = self.words[at:]


def run_others(library, words):
    """The exit status of run_in_interpreters."""
    words = [b"run_in_interpreters", *(word.encode() for word in words)]
    return library.run_in_interpreters(len(words), (ctypes.c_char_p * len(words))(*words))


def report(options):
    """False where one was not made."""
    made = True
    sys.path.extend(options.paths)
    for number in range(options.rounds):
        stem = f"round-{number}-interpreter-{options.own}"
        places = {"{round}": str(number), "{interpreter}": str(options.own)}
        arguments = options.arguments
        for place, value in places.items():
            arguments = [argument.replace(place, value) for argument in arguments]
        try:
            text = importlib.import_module(options.module).report(arguments)
            (options.folder / f"{stem}.json").write_text(text, "utf-8")
        except Exception as error:
            (options.folder / f"{stem}.error").write_text(repr(error), "utf-8")
            made = False
    return made


def main():
    library = ctypes.CDLL(sys.argv[1])
    options = Options(sys.argv[3:])
    if sys.argv[2] == "before":
        import torch  # noqa: F401
    elif run_others(library, options.words) != 0:
        return 1
    status = []
    others = threading.Thread(target=lambda: status.append(run_others(library, options.words)))
    others.start()
    made = report(options)
    others.join()
    return 0 if made and status == [0] else 1


sys.exit(main())
