"""Prints what the build must know of the torch that this Python would import.

torch itself is not imported (that takes seconds, and a build needs no GPU):
its folder is found as import would find it and read as files. Two layouts are
known: the wheel's, with everything below torch/, and a distribution's (Debian),
whose torch/ has links to libraries and headers in the system's folders.
"""
import glob
import importlib.util
import os
import re
import runpy
import sys

LIBRARIES = ("torch", "torch_cpu", "torch_python", "c10", "torch_cuda", "c10_cuda")


def folder():
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.origin:
        sys.exit(f"{sys.executable} cannot import torch. Install it there "
                 f"({sys.executable} -m pip install torch==2.13.0), or choose a Python that has "
                 "it: activate its environment or pass -DMULTIPY_PYTHON=/path/to/python.")
    return os.path.dirname(spec.origin)


def damaged(problem):
    sys.exit(f"reading the torch that {sys.executable} imports: {problem}. Its installation is "
             "damaged, or its headers and CMake files are a package of their own (Debian: "
             "libtorch-dev) that is missing; install what is missing or reinstall torch.")


def machine(file):
    """The ELF machine that a file is for; None if it is no ELF file."""
    header = read(file, "rb")[:20]
    return int.from_bytes(header[18:20], "little") if header[:4] == b"\x7fELF" else None


def check_machine(library):
    own, its = machine(os.path.realpath(sys.executable)), machine(library)
    if None not in (own, its) and own != its:
        sys.exit(f"{library} is for another kind of processor (ELF machine {its}) than {sys.executable} "
                 f"({own}). Install torch with that Python: {sys.executable} -m pip install "
                 "--force-reinstall torch.")


def check_complete(root, version):
    """pip replaces torch file by file, its dist-info last."""
    listed = {name.rpartition("/torch-")[2].partition(".dist-info")[0].partition("+")[0]
              for name in glob.glob(os.path.join(os.path.dirname(root), "torch-*.dist-info"))}
    if listed and listed != {version.partition("+")[0]}:
        damaged(f"{root}/version.py says {version}, beside it lies the dist-info of "
                f"{' and '.join(sorted(listed))}, as while pip installs another version")


def others(root):
    """Torches further back on the path, which are not the one that is imported."""
    found = []
    for folder in sys.path:
        other = os.path.join(os.path.abspath(folder or "."), "torch")
        if os.path.isfile(os.path.join(other, "version.py")) and not os.path.samefile(other, root):
            found.append(other)
    return found


def read(path, mode="r"):
    try:
        with open(path, mode) as file:
            return file.read()
    except OSError as error:
        damaged(error)


def existing(paths):
    """The first of the paths that exists; the first of all where none does."""
    return next(filter(os.path.exists, paths), paths[0])


def compile_definitions(root, libraries):
    """What torch's own CMake package gives to users of its headers."""
    targets = read(existing([os.path.join(root, "share/cmake/Caffe2/Caffe2Targets.cmake"),
                             os.path.join(libraries, "cmake/Caffe2/Caffe2Targets.cmake")]))
    found = re.search(r'torch_cpu PROPERTIES\s+INTERFACE_COMPILE_DEFINITIONS "([^"]*)"', targets)
    return found.group(1) if found else ""


def main():
    root = folder()
    version = runpy.run_path(os.path.join(root, "version.py"))["__version__"]
    check_complete(root, version)
    files = {name: os.path.realpath(os.path.join(root, f"lib/lib{name}.so")) for name in LIBRARIES}
    check_machine(files["c10"])
    # The std::string in its functions' names says which of libstdc++'s two ABIs it speaks. (A
    # libc10 that brings parts of libstdc++ along may have the names of both.)
    cxx11_abi = int(bool(re.search(rb"_ZN[KR]?3c10\w*St7__cxx1112basic_string", read(files["c10"], "rb"))))
    headers = os.path.dirname(os.path.realpath(os.path.join(root, "include/torch")))
    if not os.path.isdir(os.path.join(headers, "torch")):
        damaged(f"there is no {root}/include/torch")
    facts = {
        "root": root,
        "version": version,
        "others": " and ".join(dict.fromkeys(others(root))),
        "cxx11_abi": cxx11_abi,
        "definitions": "|".join(
            filter(None, compile_definitions(root, os.path.dirname(files["c10"])).split(";"))),
        "cuda": int(os.path.exists(files["torch_cuda"])),
        # The profiler's headers name kineto's by their plain names.
        "kineto": existing([os.path.join(root, "include/kineto"), os.path.join(headers, "kineto")]),
        **{f"file_{name}": file for name, file in files.items()},
    }
    for name, value in facts.items():
        print(f"{name}={value}")


main()
