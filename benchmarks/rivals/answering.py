"""The side of a conversation with the driver: commands from standard input, a line
each, words separated by tabs; each is answered with a line of numbers."""

import ctypes
import sys


def answer(commands: dict) -> None:
    for line in sys.stdin:
        command, *words = line.rstrip("\n").split("\t")
        try:
            result = commands[command](*words)
            numbers = result if isinstance(result, (list, tuple)) else [result]
            print(*numbers, sep="\t", flush=True)
        except Exception as error:  # it goes to the driver, which ends the run
            print("error:", repr(error).replace("\n", " "), flush=True)


def sleep_exactly() -> None:
    """Threads that this one starts wake when they asked to, and not 50 us later."""
    set_timer_slack = 29
    if ctypes.CDLL(None, use_errno=True).prctl(set_timer_slack, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_TIMERSLACK)")
