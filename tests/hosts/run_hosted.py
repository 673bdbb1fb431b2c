"""A Python process as the host: loads the library given and runs it, twice."""

import ctypes
import sqlite3
import sys

library = ctypes.CDLL(sys.argv[1])
for attempt in range(2):
    error = ctypes.create_string_buffer(4096)
    if library.run_hosted(error, len(error)) != 0:
        sys.exit(f"attempt {attempt}: {error.value.decode()}")
assert sqlite3.connect(":memory:").execute("select 6*7").fetchone() == (42,)
assert ctypes.pythonapi.Py_IsInitialized() == 1
print("ok")
