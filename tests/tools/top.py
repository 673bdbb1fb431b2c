"""What `multipy top` shows of a program that runs.

    top.py <multipy> <stats_socket_test> <work folder>
"""

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

MULTIPY, PROGRAM, WORK = sys.argv[1], sys.argv[2], Path(sys.argv[3])
VARIABLES = os.environ | {"XDG_RUNTIME_DIR": str(WORK)}


class Top(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        self.programs = []

    def tearDown(self):
        for program in self.programs:
            program.kill()
            program.wait()
            program.stdin.close()
            program.stdout.close()
        shutil.rmtree(WORK)

    def program(self):
        one = subprocess.Popen([PROGRAM, "show"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, env=VARIABLES)
        self.programs.append(one)
        self.assertEqual(one.stdout.readline(), "ready\n")
        return one

    def top(self, *words, code=0):
        done = subprocess.run([MULTIPY, "top", *words], capture_output=True, text=True,
                              env=VARIABLES, timeout=100)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_one_page(self):
        one = self.program()
        page = self.top("--once").stdout
        self.assertIn(f"shown, process {one.pid}: 2 interpreters, ", page)
        self.assertRegex(page, r"calls [1-9][0-9.]*/s of \d+, errors 0\.0/s")
        self.assertEqual(len(re.findall(r"^ +\d+  serving ", page, re.MULTILINE)), 2, page)

    def test_which_one(self):
        one, other = self.program(), self.program()
        listed = self.top("--list").stdout.split()
        self.assertEqual(listed, sorted(f"{each.pid}-shown" for each in (one, other)))
        self.assertIn("which one?", self.top(code=2).stderr)
        self.assertIn("which one?", self.top("shown", code=2).stderr)
        self.assertIn(f"process {other.pid}:", self.top(str(other.pid), "--once").stdout)
        self.assertIn("nothing is called 'x'", self.top("x", code=2).stderr)

    def test_none(self):
        self.assertIn(f"looked in {WORK}/multipy", self.top(code=1).stderr)
        self.assertEqual(self.top("--list").stdout, "")

    def test_what_a_killed_program_leaves_is_removed(self):
        one = self.program()
        one.kill()
        one.wait()
        self.assertEqual(len(list((WORK / "multipy").iterdir())), 1)
        self.assertEqual(self.top("--list").stdout, "")
        self.assertEqual(list((WORK / "multipy").iterdir()), [])

    def test_until_the_program_ends(self):
        one = self.program()
        top = subprocess.Popen([MULTIPY, "top"], stdout=subprocess.PIPE, text=True, env=VARIABLES)
        self.assertIn("shown, process", top.stdout.readline())
        one.stdin.close()
        self.assertEqual(one.wait(timeout=100), 0)
        self.assertIn("shows its pool no more", top.communicate(timeout=100)[0])
        self.assertEqual(top.returncode, 0)

    def test_in_a_terminal_until_ctrl_c(self):
        self.program()
        terminal, its_end = pty.openpty()
        top = subprocess.Popen([MULTIPY, "top"], stdout=its_end, env=VARIABLES)
        os.close(its_end)
        self.assertTrue(os.read(terminal, 100).startswith(b"\033[H\033[2J"))
        top.send_signal(signal.SIGINT)
        self.assertEqual(top.wait(timeout=100), -signal.SIGINT)
        os.close(terminal)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
