"""Installs wheels for 64-bit ARM and CPython 3.11 into a folder, with all that they require there.

    python3 install_for_arm.py <folder> <requirement> ...

pip's own --platform chooses the wheels of that machine, but evaluates the markers of what
they require ("platform_machine == ...") for the machine that it runs on. So each wheel is
installed without its requirements, and these are read from it.
"""

import copy
import importlib.metadata
import pathlib
import shutil
import subprocess
import sys
import tempfile

from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name

ARM = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "aarch64",
    "platform_python_implementation": "CPython",
    "platform_system": "Linux",
    "python_full_version": "3.11.2",
    "python_version": "3.11",
    "sys_platform": "linux",
}
TAGS = ["manylinux2014", *(f"manylinux_2_{minor}" for minor in range(17, 40))]


def install(folder, requirements):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version=3.11", *(f"--platform={tag}_aarch64" for tag in TAGS)]
    command += [f"{each.name}{each.specifier}" for each in requirements]
    with tempfile.TemporaryDirectory(dir=pathlib.Path(folder).parent) as new:  # pip leaves a folder out that is there
        subprocess.run([*command, "--target", new], check=True)
        shutil.copytree(new, folder, copy_function=shutil.move, symlinks=True, dirs_exist_ok=True)


def missing(folder, extras):
    """What the folder's packages require on ARM and the folder lacks."""
    there = {canonicalize_name(each.name): each for each in importlib.metadata.distributions(path=[folder])}
    found = {}
    for name, package in there.items():
        for text in package.requires or []:
            wanted = Requirement(text)
            key = canonicalize_name(wanted.name)
            wanted_here = any(
                wanted.marker is None or wanted.marker.evaluate({**ARM, "extra": extra})
                for extra in extras.get(name, set()) | {""}
            )
            if not wanted_here:
                continue
            extras.setdefault(key, set()).update(wanted.extras)
            if key not in there:
                if key in found:  # several require it, each what it does
                    wanted.specifier &= found[key].specifier
                found[key] = wanted
            elif not wanted.specifier.contains(there[key].version, prereleases=True):
                raise SystemExit(f"{name} requires {wanted}; {there[key].version} is installed")
    return list(found.values())


def main():
    folder, *given = sys.argv[1:]
    wanted = [Requirement(each) for each in given]
    extras = {canonicalize_name(each.name): set(each.extras) for each in wanted}
    known = None
    while wanted or extras != known:
        known = copy.deepcopy(extras)
        if wanted:
            print("installing", *wanted, file=sys.stderr)
            install(folder, wanted)
        wanted = missing(folder, extras)


main()
