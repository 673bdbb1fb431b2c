"""The server's log, with the place in the model's own code that writes to it."""

import enum
import os
import sys

import _multipy_triton_server as server


class Logger:
    class LogLevel(enum.IntEnum):  # as the server numbers them
        INFO = 0
        WARNING = 1
        ERROR = 2
        VERBOSE = 3

    INFO = LogLevel.INFO
    WARNING = LogLevel.WARNING
    ERROR = LogLevel.ERROR
    VERBOSE = LogLevel.VERBOSE

    @staticmethod
    def log(message, level=LogLevel.INFO):
        _write(level, message)

    @staticmethod
    def log_info(message):
        _write(Logger.INFO, message)

    @staticmethod
    def log_warn(message):
        _write(Logger.WARNING, message)

    @staticmethod
    def log_error(message):
        _write(Logger.ERROR, message)

    @staticmethod
    def log_verbose(message):
        _write(Logger.VERBOSE, message)


def _write(level, message):
    if not isinstance(level, Logger.LogLevel):
        raise TypeError(f"{level!r} is no level of pb_utils.Logger")
    if not isinstance(message, (str, bytes)):
        raise TypeError(f"a message of pb_utils.Logger is a text, not a {type(message).__name__}")
    if not server.is_logged(level):
        return
    caller = sys._getframe(2)
    file = os.path.basename(caller.f_code.co_filename)
    server.write_log(int(level), server.to_bytes(file), caller.f_lineno, server.to_bytes(message))
