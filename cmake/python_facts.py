"""Prints what the build must know of the Python that runs this, as name=value lines.

The static library is looked for where Debian, pyenv, conda and plain
`make install` put it; every candidate that exists is printed, best first,
separated by '|'. Whether one can be used, the build finds out by linking it.
"""
import os
import sys
import sysconfig


def archives(config, version):
    """Static libpythons that belong to this Python, the surest first."""
    folders = [config("LIBPL"), os.path.join(sys.base_prefix, "lib"), config("LIBDIR")]
    names = [f"libpython{version}-pic.a", config("LIBRARY") or f"libpython{version}.a"]
    found = []
    for name in names:
        for folder in filter(None, folders):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and path not in found:
                found.append(path)
    return found


def link_words(config):
    """-l and -L words that the interpreter itself was linked with, each once, in order."""
    words = []
    for variable in ("MODLIBS", "LIBS", "SYSLIBS"):
        for word in (config(variable) or "").split():
            if word.startswith(("-l", "-L")) and word not in words:
                words.append(word)
    return words


def main():
    config = sysconfig.get_config_var
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    facts = {
        "version": version,
        "full_version": ".".join(map(str, sys.version_info[:3])),
        "implementation": sys.implementation.name,
        "flavour": "free-threaded" if config("Py_GIL_DISABLED") else
                   "debug" if config("Py_DEBUG") else "release",
        "prefix": sys.base_prefix,
        "include": sysconfig.get_path("include"),
        "config_dir": config("LIBPL") or "",
        "archives": "|".join(archives(config, version)),
        "link_words": "|".join(link_words(config)),
    }
    for name, value in facts.items():
        print(f"{name}={value}")


main()
