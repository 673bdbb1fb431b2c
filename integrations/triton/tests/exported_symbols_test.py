"""Compares what the backend uses of Triton's with what the server exports.

    exported_symbols_test.py <libtriton_multipy.so> <tritonserver> <nm>

The backend is linked with nothing of Triton: a name that is missing would show when the server loads
it, and one that is no function of the server's but of another library, when it is called.
"""

import re
import subprocess
import sys


def symbols(nm, file, option):
    text = subprocess.run(
        [nm, "-D", option, file], check=True, capture_output=True, text=True
    ).stdout
    return set(re.findall(r"\b(TRITON(?:SERVER|BACKEND)_\w+)", text))


def library_of(server):
    text = subprocess.run(["ldd", server], check=True, capture_output=True, text=True).stdout
    found = re.search(r"(libtritonserver[^ ]*) => (\S+)", text)
    if not found:
        sys.exit(f"{server} needs no libtritonserver, it says:\n{text}")
    return found.group(2)


def main():
    backend, server, nm = sys.argv[1:]
    used = symbols(nm, backend, "--undefined-only")
    exported = symbols(nm, library_of(server), "--defined-only")
    if not used:
        sys.exit(f"{backend} uses nothing of Triton: nothing was compared")
    missing = sorted(used - exported)
    if missing:
        sys.exit("the server does not export: " + ", ".join(missing))
    # What the server looks for in a backend.
    ours = symbols(nm, backend, "--defined-only")
    for name in ("Initialize", "ModelInitialize", "ModelInstanceInitialize", "ModelInstanceExecute"):
        if "TRITONBACKEND_" + name not in ours:
            sys.exit(f"{backend} does not export TRITONBACKEND_{name}")
    print(f"{len(used)} functions of Triton's are used, and exported by the server")


main()
