"""Prints, as JSON, what a Python says about the environment that it runs in.

    environment_facts.py <output file> [module...]

Each module is imported, and its __file__ (or __path__) and `value` are told. Run by an
environment's own python and in an interpreter of multipy, it has to print the same.
"""

import importlib
import importlib.metadata
import importlib.resources
import json
import multiprocessing
import os
import platform
import site
import subprocess
import sys
import sysconfig


def about_sys():
    names = ["prefix", "exec_prefix", "base_prefix", "base_exec_prefix", "executable"]
    names += ["_base_executable", "platlibdir", "version", "argv", "byteorder", "maxsize"]
    facts = {name: getattr(sys, name) for name in names}
    # What python puts first for the script itself is left out, and so is utf8_mode: our
    # interpreters are in UTF-8 mode whatever the locale, which is the process's.
    facts["path"] = sys.path[1:]
    facts["flags"] = {
        name: getattr(sys.flags, name)
        for name in dir(sys.flags)
        if not name.startswith(("_", "n_")) and name not in ("count", "index", "utf8_mode")
    }
    facts["implementation"] = sys.implementation.cache_tag
    facts["encodings"] = [sys.getfilesystemencoding(), sys.getdefaultencoding()]
    facts["xoptions"] = sys._xoptions
    facts["warnoptions"] = sys.warnoptions
    facts["pycache_prefix"] = sys.pycache_prefix
    return facts


def about_site():
    return {
        "ENABLE_USER_SITE": site.ENABLE_USER_SITE,
        "PREFIXES": site.PREFIXES,
        "USER_BASE": site.USER_BASE,
        "USER_SITE": site.USER_SITE,
        "sitepackages": site.getsitepackages(),
        "sitecustomize": "sitecustomize" in sys.modules,
        "usercustomize": "usercustomize" in sys.modules,
    }


def about_sysconfig():
    return {
        "paths": {scheme: sysconfig.get_paths(scheme) for scheme in sysconfig.get_scheme_names()},
        "default": sysconfig.get_default_scheme(),
        "preferred": [sysconfig.get_preferred_scheme(k) for k in ("prefix", "home", "user")],
        "platform": sysconfig.get_platform(),
        "variables": {k: str(v) for k, v in sysconfig.get_config_vars().items()},
        "makefile": sysconfig.get_makefile_filename(),
        "include": sysconfig.get_config_h_filename(),
        "machine": [platform.python_version(), platform.machine(), platform.python_build()],
    }


def about_distributions():
    return sorted(
        [found.metadata["Name"], found.version, str(found.locate_file(""))]
        for found in importlib.metadata.distributions()
    )


def about_module(name):
    module = importlib.import_module(name)
    facts = {"value": getattr(module, "value", None), "path": list(getattr(module, "__path__", []))}
    facts["file"] = getattr(module, "__file__", None)
    if facts["path"]:
        resource = importlib.resources.files(module).joinpath("data.txt")
        facts["resource"] = resource.read_text() if resource.is_file() else None
    return facts


# Not a function of ours: a child cannot import the __main__ of a zip file.
CHILD_FACTS = "(lambda sys, os: [sys.prefix, sys.executable, sys.path[1:], os.environ.get('FACTS_VARIABLE')])"
CHILD_FACTS += "(__import__('sys'), __import__('os'))"


def about_children():
    ask = "import sys, json; json.dump([sys.prefix, sys.executable, sys.flags.isolated], sys.stdout)"
    found = {"subprocess": subprocess.check_output([sys.executable, "-c", ask], text=True)}
    for method in ("spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            found[method] = pool.apply_async(eval, (CHILD_FACTS,)).get(timeout=60)
    return found


def main(output, modules):
    facts = {
        "sys": about_sys(),
        "site": about_site(),
        "sysconfig": about_sysconfig(),
        "distributions": about_distributions(),
        "modules": {name: about_module(name) for name in modules},
        "children": about_children(),
        "environ": {k: v for k, v in os.environ.items() if k not in ("_", "SHLVL")},
    }
    with open(output, "w") as file:
        json.dump(facts, file, indent=1, sort_keys=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
