"""Environments of all kinds, each asked by its own python and by `multipy run`: the same
script (environment_facts.py) has to find the same.

    environments.py <multipy> <work folder> <kind>

The environments are made of what every Python has: venv, and files written here in the
form that pip, setuptools and virtualenv leave behind.
"""

import difflib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import venv
import zipapp
import zipfile
from pathlib import Path

FACTS = Path(__file__).with_name("environment_facts.py")
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


def write(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))


def package(directory, name, value):
    write(directory / name / "__init__.py", f"value = {value!r}\n")
    write(directory / name / "data.txt", f"data of {name}\n")


def distribution(site, name, version):
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    write(site / f"{name}-{version}.dist-info" / "METADATA", metadata)
    write(site / f"{name}-{version}.dist-info" / "RECORD", "")


def site_packages(prefix):
    return prefix / "lib" / VERSION / "site-packages"


def make_venv(prefix, **options):
    venv.create(prefix, symlinks=True, with_pip=False, **options)
    return site_packages(prefix)


def fill(site, sources):
    """All the ways in which code gets into a site-packages; gives the modules' names."""
    package(site, "ordinary", 1)
    distribution(site, "ordinary", "1.5")

    # pip install -e of a project with a src folder: a path
    package(sources / "static/src", "static_editable", 2)
    distribution(site, "static_editable", "2.0")
    write(site / "__editable__.static_editable-2.0.pth", f"{sources / 'static/src'}\n")

    # pip install -e of a flat project: a finder, installed by an import line
    package(sources / "flat", "finder_editable", 3)
    distribution(site, "finder_editable", "3.0")
    write(
        site / "__editable___finder_editable_3_0_finder.py",
        f"""\
        import sys
        from importlib.machinery import PathFinder
        from importlib.util import spec_from_file_location
        from pathlib import Path

        MAPPING = {{'finder_editable': {str(sources / 'flat/finder_editable')!r}}}

        class EditableFinder:
            @classmethod
            def find_spec(cls, fullname, path=None, target=None):
                if fullname in MAPPING:
                    folder = Path(MAPPING[fullname])
                    return spec_from_file_location(
                        fullname, folder / '__init__.py', submodule_search_locations=[str(folder)])
                return None

        def install():
            sys.meta_path.append(EditableFinder)
        """,
    )
    write(
        site / "__editable__.finder_editable-3.0.pth",
        "import __editable___finder_editable_3_0_finder; "
        "__editable___finder_editable_3_0_finder.install()",
    )

    # a namespace package in two places
    package(site / "spaced", "one", 4)
    package(sources / "elsewhère/spaced", "two", 5)
    write(site / "elsewhere.pth", f"# a comment\n{sources / 'elsewhère'}\n/no/such/folder\n")

    # a zipped package
    with zipfile.ZipFile(sources / "packages.zip", "w") as archive:
        archive.writestr("zipped/__init__.py", "value = 6\n")
        archive.writestr("zipped/data.txt", "data of zipped\n")
    write(site / "zipped.pth", f"{sources / 'packages.zip'}\n")

    write(
        site / "sitecustomize.py",
        "import os, sys\nvalue = 7\nos.environ['FACTS_VARIABLE'] = 'by sitecustomize'\n"
        "sys.path.append('/appended/by/sitecustomize')\n",
    )
    return "ordinary static_editable finder_editable spaced spaced.one spaced.two zipped sitecustomize".split()


class Kinds:
    """Each gives: prefix, modules to import, further environment variables."""

    def __init__(self, work):
        self.work = work

    def full_venv(self):
        return self.work / "env", fill(make_venv(self.work / "env"), self.work / "src"), {}

    def base_installation(self):
        return Path(sys.base_prefix), ["json"], {}

    def user_site(self):
        """With the system's site-packages, and so with the user's own."""
        make_venv(self.work / "env", system_site_packages=True)
        user = site_packages(self.work / "user")
        package(user, "users_own", 8)
        distribution(user, "users_own", "8.0")
        write(user / "usercustomize.py", "value = 9\n")
        package(self.work / "more", "by_users_pth", 10)
        write(user / "more.pth", f"{self.work / 'more'}\n")
        modules = ["users_own", "usercustomize", "by_users_pth"]
        return self.work / "env", modules, {"PYTHONUSERBASE": str(self.work / "user")}

    def venv_without_user_site(self):
        write(site_packages(self.work / "user") / "usercustomize.py", "value = 11\n")
        make_venv(self.work / "env")
        variables = {"PYTHONUSERBASE": str(self.work / "user"), "PYTHONDONTWRITEBYTECODE": "1"}
        return self.work / "env", [], variables

    def python_variables(self):
        make_venv(self.work / "env")
        package(self.work / "path", "on_pythonpath", 12)
        variables = {
            "PYTHONPATH": f"{self.work / 'path'}:/no/such/folder",
            "PYTHONOPTIMIZE": "1",
            "PYTHONHASHSEED": "17",
            "PYTHONWARNINGS": "error::ResourceWarning",
            "PYTHONNOUSERSITE": "1",
            "PYTHONPYCACHEPREFIX": str(self.work / "pycache"),
            "PYTHONINTMAXSTRDIGITS": "5000",
        }
        return self.work / "env", ["on_pythonpath"], variables

    def virtualenv(self):
        """As that tool, and not venv, makes them."""
        prefix = self.work / "env"
        make_venv(prefix)
        base = sys._base_executable
        write(
            prefix / "pyvenv.cfg",
            f"""\
            home = {os.path.dirname(base)}
            implementation = CPython
            version_info = {'.'.join(map(str, sys.version_info[:3]))}.final.0
            virtualenv = 20.25.0
            include-system-site-packages = false
            base-prefix = {sys.base_prefix}
            base-exec-prefix = {sys.base_exec_prefix}
            base-executable = {os.path.realpath(base)}
            """,
        )
        write(site_packages(prefix) / "_virtualenv.py", "value = 13\n")
        write(site_packages(prefix) / "_virtualenv.pth", "import _virtualenv")
        return prefix, ["_virtualenv"], {}

    def conda(self):
        """A prefix with an executable of its own, and packages of libraries beside it."""
        prefix = self.work / "env"
        (prefix / "bin").mkdir(parents=True)
        shutil.copy(os.path.realpath(sys._base_executable), prefix / "bin" / VERSION)
        for name in ("python", "python3"):
            (prefix / "bin" / name).symlink_to(VERSION)
        library = Path(sysconfig.get_path("stdlib"))
        own = prefix / "lib" / VERSION
        own.mkdir(parents=True)
        for entry in library.iterdir():
            if entry.name not in ("site-packages", "dist-packages"):
                (own / entry.name).symlink_to(entry)
        (prefix / "include").mkdir()
        (prefix / "include" / VERSION).symlink_to(sysconfig.get_path("include"))
        write(prefix / "conda-meta/history", "")
        # Asked, because a distribution's Python may look elsewhere than in site-packages.
        where = [str(prefix / "bin/python"), "-c", "import site; print(site.getsitepackages()[0])"]
        site = Path(subprocess.check_output(where, env=environment({}), text=True).strip())
        package(site, "from_conda", 14)
        distribution(site, "from_conda", "14.0")
        return prefix, ["from_conda"], {"CONDA_PREFIX": str(prefix)}


def environment(variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        kept.pop(name, None)
    return kept | variables


def ask(command, script, work, modules, variables):
    output = work / "facts.json"
    subprocess.run(
        [*command, str(script), str(output), *modules], env=environment(variables), check=True, cwd=work,
        timeout=200)
    facts = json.loads(output.read_text())
    output.unlink()
    return facts


def zipped_facts(work):
    """The script as a zipapp."""
    staged = work / "zipapp"
    staged.mkdir()
    shutil.copy(FACTS, staged / "__main__.py")
    zipapp.create_archive(staged, work / "facts.pyz")
    return work / "facts.pyz"


def as_lines(facts):
    return json.dumps(facts, indent=1, sort_keys=True).splitlines()


def compare(multipy, work, kind):
    prefix, modules, variables = getattr(Kinds(work), kind)()
    # Named, or found, since it is the active one.
    named = (FACTS, [multipy, "run", "--python", str(prefix)], {})
    active = "CONDA_PREFIX" if kind == "conda" else "VIRTUAL_ENV"
    rounds = [named if kind == "base_installation" else (FACTS, [multipy, "run"], {active: str(prefix)})]
    if kind == "full_venv":
        rounds += [(zipped_facts(work), *named[1:])]
    python = [str(prefix / "bin" / "python3")]
    for script, command, more in rounds:
        expected = ask(python, script, work, modules, variables | more)
        found = ask(command, script, work, modules, variables | more)
        difference = list(
            difflib.unified_diff(as_lines(expected), as_lines(found), "python", "multipy", lineterm=""))
        if difference:
            sys.exit("\n".join([f"{kind}, {script.name}:", *difference[:60]]))
    print(f"{kind}: {sum(len(facts) for facts in expected.values())} facts are the same")


if __name__ == "__main__":
    program, folder, kind = sys.argv[1:]
    folder = Path(folder) / kind
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    compare(program, folder.resolve(), kind)
    shutil.rmtree(folder)
