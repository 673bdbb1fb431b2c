"""The programs of docs/python.md run."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


class Page(unittest.TestCase):
    def test_each_program_runs(self):
        programs = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
        self.assertGreaterEqual(len(programs), 2)
        for program in programs:
            with self.subTest(program), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "program.py")
                path.write_text(program, "utf-8")
                done = subprocess.run([sys.executable, "-B", str(path)], capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
