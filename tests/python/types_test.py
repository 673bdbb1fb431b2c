"""The package's types: as the modules are, and of use to a type checker (mypy)."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import multipy

PROGRAM = pathlib.Path(__file__).parent / "typed" / "program.py"
PACKAGE = pathlib.Path(multipy.__file__).parent

# Only what the stubs describe is looked at.
CONFIGURATION = """
[mypy]
ignore_missing_imports = True
[mypy-multipy.*]
ignore_errors = True
"""
# cmake_prefix_path is there when multipy is installed.
UNDESCRIBED = rf"""
multipy\.cmake_prefix_path
multipy\.(joblib|package|serve|_(built|by_value|crossing|functions|host|inside|loop|sharing|workers))(\..*)?
multipy\._(dataloader|executor|pool)\.(?!({"|".join(multipy.__all__)})\b).*
"""


class Types(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_module(self, *arguments):
        command = [sys.executable, "-m", *map(str, arguments)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300)

    def test_are_those_of_the_modules(self):
        configuration, undescribed = self.folder / "mypy.ini", self.folder / "undescribed"
        configuration.write_text(CONFIGURATION)
        undescribed.write_text(UNDESCRIBED)
        done = self.run_module(
            "mypy.stubtest", "multipy", "--concise", "--mypy-config-file", configuration,
            "--allowlist", undescribed, "--ignore-unused-allowlist",
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_tell_right_from_wrong(self):
        done = self.run_module("mypy", "--strict", "--cache-dir", self.folder / "cache", PROGRAM)
        found = re.findall(r"program\.py:(\d+): error: .*\[(.*)\]", done.stdout)
        lines = enumerate(PROGRAM.read_text().splitlines(), start=1)
        expected = [(str(number), line.split("  # ")[1]) for number, line in lines if "  # " in line]
        self.assertEqual(found, expected, done.stdout + done.stderr)

    def test_name_what_the_package_has(self):
        self.assertTrue((PACKAGE / "py.typed").is_file())
        self.assertLessEqual(set(multipy.__all__), set(dir(multipy)))
        for name in multipy.__all__:
            self.assertTrue(hasattr(multipy, name), name)


if __name__ == "__main__":
    unittest.main()
