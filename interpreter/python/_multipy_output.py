"""sys.stdout and sys.stderr where the program wants to have what is printed."""

import io
import sys

import _multipy_host


class ProgramStream(io.BufferedIOBase):
    """The bytes under sys.stdout or sys.stderr. Without a lock of its own: the
    program may print while it is given something."""

    def __init__(self, descriptor, name):
        self._descriptor = descriptor
        self.name = name
        self.mode = "wb"

    def writable(self):
        return True

    def write(self, data):
        return _multipy_host.output(self._descriptor, data)

    def fileno(self):
        """The process's own, for child processes and code that writes past Python."""
        return self._descriptor


def _text(descriptor, original):
    """`original` is None where the process has that descriptor closed."""
    stream = ProgramStream(descriptor, "<stdout>" if descriptor == 1 else "<stderr>")
    text = io.TextIOWrapper(
        stream,
        encoding=getattr(original, "encoding", "utf-8"),
        errors=getattr(original, "errors", "backslashreplace"),
        newline="\n",
        line_buffering=True,
    )
    text.mode = "w"
    return text


def replace_streams():
    sys.stdout = sys.__stdout__ = _text(1, sys.stdout)
    sys.stderr = sys.__stderr__ = _text(2, sys.stderr)
