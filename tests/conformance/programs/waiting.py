"""For what torch has one of per process, and interpreters use one after the other.

The profiler is the one such thing: starting it while another interpreter
profiles is an error that says so. Plain Python never waits here.
"""

import time


def until_free(function):
    """What `function` returns, called again as long as another interpreter is in the way.

    It has to print nothing: an attempt may end anywhere.
    """
    while True:
        try:
            return function()
        except RuntimeError as error:
            if "profile in one interpreter at a time" not in str(error):
                raise
        time.sleep(0.02)
