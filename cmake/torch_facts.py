"""Prints what the build must know of the torch that this Python would import.

torch itself is not imported (that takes seconds, and a build needs no GPU):
its folder is found as import would find it and read as files.
"""
import importlib.util
import os
import re
import runpy
import sys


def folder():
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.origin:
        sys.exit(f"{sys.executable} cannot import torch. Install it there "
                 f"({sys.executable} -m pip install torch==2.13.0), or choose a Python that has "
                 "it: activate its environment or pass -DMULTIPY_PYTHON=/path/to/python.")
    return os.path.dirname(spec.origin)


def read(path, mode="r"):
    try:
        with open(path, mode) as file:
            return file.read()
    except OSError as error:
        sys.exit(f"reading the torch that {sys.executable} imports: {error}. Its installation "
                 "is damaged or is not an official wheel; reinstall torch.")


def compile_definitions(root):
    """What torch's own CMake package gives to users of its headers."""
    targets = read(os.path.join(root, "share/cmake/Caffe2/Caffe2Targets.cmake"))
    found = re.search(r'torch_cpu PROPERTIES\s+INTERFACE_COMPILE_DEFINITIONS "([^"]*)"', targets)
    return found.group(1) if found else ""


def main():
    root = folder()
    version = runpy.run_path(os.path.join(root, "version.py"))["__version__"]
    c10 = read(os.path.join(root, "lib/libc10.so"), "rb")
    facts = {
        "root": root,
        "version": version,
        # Names of std::string in libc10's symbol table say which of libstdc++'s two ABIs it speaks.
        "cxx11_abi": int(b"St7__cxx1112basic_string" in c10),
        "definitions": "|".join(filter(None, compile_definitions(root).split(";"))),
        "cuda": int(os.path.exists(os.path.join(root, "lib/libtorch_cuda.so"))),
    }
    for name, value in facts.items():
        print(f"{name}={value}")


main()
