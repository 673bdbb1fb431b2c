"""Imported by a function of slow_module, not before."""

import time

time.sleep(0.3)
NAME = "later"
