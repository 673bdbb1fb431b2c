"""What the commands of `multipy` print, and how they end.

    commands.py <multipy> <work folder> <version>
"""

import os
import pty
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import unittest
from pathlib import Path

MULTIPY, WORK, VERSION = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
COMMANDS = ("doctor", "run", "repl", "explain", "cache", "top")


class Commands(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)

    def tearDown(self):
        shutil.rmtree(WORK)

    def call(self, *words, code=0, variables=None, text=None):
        done = subprocess.run(
            [MULTIPY, *map(str, words)], capture_output=True, text=True, cwd=WORK, input=text,
            env=os.environ | (variables or {}), timeout=250)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done

    def plain(self, *words):
        return subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=WORK)

    def script(self, name, text):
        (WORK / name).write_text(textwrap.dedent(text))
        return name

    # --- all of them

    def test_help(self):
        overview = self.call("--help").stdout
        self.assertEqual(self.call("-h").stdout, overview)
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", overview)
            told = self.call(command, "--help").stdout
            self.assertTrue(told.startswith(f"usage: multipy {command}"), told)
            self.assertEqual("--python PREFIX" in told, command not in ("cache", "top"))
        self.assertEqual(self.call("--version").stdout, f"multipy {VERSION}\n")

    def test_what_is_not_understood(self):
        self.assertIn("usage: multipy <command>", self.call(code=2).stderr)
        self.assertIn("unknown command 'dcotor'", self.call("dcotor", code=2).stderr)
        for words, said in (
            (["run"], "expected a script"),
            (["run", "--no-such", "x.py"], "unknown option --no-such; expected one of -n"),
            (["run", "-n"], "-n needs a value"),
            (["run", "-n", "0", "x.py"], "-n is '0', expected a number from 1 on"),
            (["run", "-n", "2x", "x.py"], "-n is '2x'"),
            (["run", "--label=yes", "x.py"], "--label takes no value"),
            (["explain"], "expected a library, a directory, or a module"),
            (["cache", "empty"], "expected nothing or 'clear', found empty"),
            (["cache", "--limit", "2 GB"], "--limit is '2 GB', expected a size such as 500MB or 4GiB, or 'none'"),
            (["cache", "--limit", "0"], "--limit is '0', expected a size"),
            (["cache", "--limit", "99999999TiB"], "--limit is '99999999TiB', expected a size"),
            (["cache", "--max-age", "7"], "--max-age is '7', expected a time such as 12h or 30d, or 'none'"),
            (["cache", "--max-age=-1d"], "--max-age is '-1d', expected a time"),
            (["repl", "x.py"], "expected no words, found x.py"),
        ):
            told = self.call(*words, code=2).stderr
            self.assertIn(f"multipy {words[0]}: {said}", told)
            self.assertIn(f"multipy {words[0]} --help", told)

    def test_a_bad_environment(self):
        for command in (["run", "x.py"], ["repl"], ["explain", "json"], ["doctor"]):
            done = self.call(command[0], "--python", "/no/such/venv", *command[1:], code=1)
            self.assertIn("/no/such/venv", done.stdout + done.stderr)
            self.assertIn("no such directory", done.stdout + done.stderr)

    # --- run

    def test_run_gives_each_its_arguments(self):
        self.script("show.py", """\
            import sys
            print(__name__, sys.argv)
            print('unfinished', end='')
            print('for people', file=sys.stderr)
            """)
        done = self.call("run", "-n", 3, "--label", "show.py", "--rank={i}", "--help")
        lines = done.stdout.splitlines()
        for i in range(3):
            mine = [line for line in lines if line.startswith(f"[{i}] ")]
            self.assertEqual(mine, [f"[{i}] __main__ ['show.py', '--rank={i}', '--help']", f"[{i}] unfinished"])
            self.assertIn(f"[{i}] for people\n", done.stderr)

    def test_run_ends_as_python_does(self):
        for source, code, said in (
            ("pass", 0, ""),
            ("import sys; sys.exit()", 0, ""),
            ("import sys; sys.exit(5)", 5, ""),
            ("import sys; sys.exit('a reason')", 1, "a reason\n"),
            ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
            ("def broken(:", 1, "SyntaxError: "),
            ("import atexit; atexit.register(print, 'at the end')", 0, ""),
            ("import os; r, w = os.pipe(); os.close(r); os.write(w, b'x')", 1, "BrokenPipeError: [Errno 32] Broken pipe\n"),
        ):
            self.script("end.py", source)
            ours = self.call("run", "end.py", code=code)
            plain = self.plain("end.py")
            self.assertEqual(ours.returncode, plain.returncode)
            self.assertEqual(ours.stdout, plain.stdout)
            self.assertIn(said, ours.stderr)
            self.assertEqual(ours.stderr, plain.stderr)
        self.script("by_rank.py", "import sys; sys.exit(int(sys.argv[1]))")
        self.call("run", "-n", 4, "by_rank.py", "{i}", code=3)
        self.assertIn("nowhere.py", self.call("run", "nowhere.py", code=2).stderr)

    def test_run_modules_folders_and_archives(self):
        (WORK / "package").mkdir()
        self.script("package/__main__.py", "import sys, package.part; print(sys.argv, package.part.value)")
        self.script("package/part.py", "value = 7")
        shown = self.call("run", "-m", "package", "-n", "x").stdout
        self.assertEqual(shown, self.plain("-m", "package", "-n", "x").stdout)
        self.script("package/__main__.py", "import sys, part; print(__spec__.name, __file__, sys.path[0], part.value)")
        shutil.make_archive(str(WORK / "archive"), "zip", WORK / "package")
        for program in ("package", "./package/", "archive.zip"):
            self.assertEqual(self.call("run", program).stdout, self.plain(program).stdout)
        self.assertIn("No module named", self.call("run", "-m", "no_such_module", code=1).stderr)

    def test_run_finds_the_scripts_own_files(self):
        # What the script calls itself, and modules beside it that are called like some of ours
        # or of the standard library.
        for name in ("pkgutil", "typing", "warnings"):
            self.script(f"{name}.py", "mine = True")
        self.script("own.py", """\
            import os, sys
            os.chdir('/')
            print(__file__, os.path.exists(__file__), sys.argv, sys.path[0])
            import pkgutil, typing, warnings
            print(pkgutil.mine, typing.mine, warnings.mine)
            """)
        for path in ("own.py", "./own.py", f"../{WORK.name}/own.py", WORK / "own.py"):
            self.assertEqual(self.call("run", path).stdout, self.plain(path).stdout)

    def test_run_lets_a_child_of_fork_end_for_itself(self):
        self.script("forks.py", """\
            import atexit, os, sys, warnings
            warnings.simplefilter('ignore', DeprecationWarning)  # of forks beside threads, from 3.12 on
            atexit.register(lambda: print('exit of', 'child' if child == 0 else 'parent'))
            child = os.fork()
            if child == 0:
                sys.exit(7)
            print('child gave', os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            """)
        ours, plain = self.call("run", "forks.py"), self.plain("forks.py")
        self.assertEqual([ours.stdout, ours.stderr], [plain.stdout, plain.stderr])

    def test_run_waits_for_threads(self):
        self.script("threads.py", """\
            import threading, time
            from concurrent.futures import ThreadPoolExecutor

            def work():
                time.sleep(0.2)
                threading.Thread(target=print, args=('from a thread of a thread',)).start()

            def for_ever():
                while True: time.sleep(10)

            def daemon():
                thread = threading.Thread(target=for_ever, daemon=True)
                thread.start()
                print(thread.daemon)

            thread = threading.Thread(target=work)
            thread.start()
            print(thread.daemon, threading.current_thread().daemon)
            daemon()
            ThreadPoolExecutor(1).submit(lambda: (time.sleep(0.6), print('from a pool')))
            raise SystemExit(3)
            """)
        ours, plain = self.call("run", "threads.py", code=3), self.plain("threads.py")
        self.assertEqual(sorted(ours.stdout.splitlines()), sorted(plain.stdout.splitlines()))
        self.assertEqual(ours.stderr, plain.stderr)

    def test_run_is_over_for_threads_that_wait_for_the_main_one(self):
        self.script("watch.py", """\
            import threading, time

            def watch():
                while any(each.is_alive() and not each.daemon and each is not watcher for each in threading.enumerate()):
                    time.sleep(0.05)
                print('nothing left')

            watcher = threading.Thread(target=watch)
            watcher.start()
            print('end')
            """)
        self.assertEqual(self.call("run", "watch.py").stdout, self.plain("watch.py").stdout)

    def test_run_forks_as_python_does(self):
        self.script("forks.py", """\
            import multiprocessing, threading
            print(threading.current_thread().name, threading.Thread().name)
            for target in (int, threading.active_count):
                child = multiprocessing.get_context('fork').Process(target=target)
                child.start()
                child.join()
                print(child.exitcode)
            """)
        self.assertEqual(self.call("run", "forks.py").stdout, self.plain("forks.py").stdout)

    def test_run_keeps_labelled_lines_whole(self):
        self.script("many.py", """\
            import os, sys, warnings
            warnings.simplefilter('ignore', DeprecationWarning)
            child = os.fork()
            for number in range(300):
                print('line', number, file=sys.stderr)
            if child != 0:
                os.waitpid(child, 0)
            """)
        lines = self.call("run", "-n", 2, "--label", "many.py").stderr.splitlines()
        self.assertEqual(len(lines), 4 * 300)
        for line in lines:  # (those of children of fork() need have no label)
            self.assertRegex(line, r"^(\[[01]\] )?line \d+$")

    # --- repl

    def test_repl(self):
        typed = "x = 20\nx + 1\n1 / 0\ndef f():\n    return 'f' * 3\n\nf()\nimport sys; sys.exit(x)\n"
        done = self.call("repl", code=20, text=typed)
        for wanted in ("21\n", "'fff'"):
            self.assertIn(wanted, done.stdout)
        self.assertIn("ZeroDivisionError", done.stderr)
        self.assertIn("in a private interpreter of", done.stderr)
        self.call("repl", text="")

    def test_repl_on_a_terminal_is_interrupted(self):
        child, terminal = pty.fork()
        if child == 0:
            os.execv(MULTIPY, [MULTIPY, "repl"])
        seen = b""

        def wait_for(text):
            nonlocal seen
            while text not in seen:
                seen += os.read(terminal, 4096)
            seen = seen[seen.index(text) + len(text):]

        wait_for(b">>> ")
        os.write(terminal, b"import time; print('be' + 'gun')\n")
        wait_for(b"begun")
        os.write(terminal, b"while True: time.sleep(0.01)\n\n")
        wait_for(b"... ")
        time.sleep(0.3)  # it has begun, or will be interrupted at its first step
        os.kill(child, signal.SIGINT)
        wait_for(b"KeyboardInterrupt")
        wait_for(b">>> ")
        os.write(terminal, b"raise SystemExit(9)\n")
        try:
            while os.read(terminal, 4096):
                pass
        except OSError:
            pass  # the terminal's other end is closed
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 9)

    # --- doctor, explain, cache

    def test_doctor(self):
        told = self.call("doctor", "_csv").stdout
        for name in ("multipy", "payload", "limits", "cache", "environment", "interpreter", "torch", "_csv"):
            self.assertRegex(told, rf"(?m)^{name} +\S")
        self.assertIn(sys.prefix, told)
        self.assertIn(f"starts; Python {sys.version.split()[0]}", told)
        self.assertTrue(told.endswith("all is well\n"), told)
        self.assertNotIn("PROBLEM", told)
        told = self.call("doctor", "no_such_module", code=1).stdout
        self.assertRegex(told, "(?m)^no_such_module *PROBLEM: ModuleNotFoundError")
        self.assertTrue(told.endswith("something is wrong, see above\n"), told)

    def test_explain(self):
        library = next(Path(os.__file__).parent.glob("lib-dynload/_ctypes.*.so"))
        told = self.call("explain", library).stdout.splitlines()
        self.assertRegex(told[0], rf"^private  {library}: uses \w+ of the CPython C API$")
        self.assertTrue(any(line.startswith("shared ") and "libc.so.6: is part of" in line for line in told), told)
        self.assertEqual(self.call("explain", "_ctypes").stdout.splitlines(), told)
        told = self.call("explain", "--shared", "_ctypes*", library).stdout
        self.assertRegex(told, r"^shared   .*_ctypes.*: is overridden by the pattern \"_ctypes\*\"")
        told = self.call("explain", "--shared", "_ctypes*", "--private", "*", library).stdout
        self.assertRegex(told, r"^private  .*_ctypes.*: is overridden by the pattern \"\*\"")
        self.assertIn("json has no shared libraries", self.call("explain", "json").stdout)
        self.assertIn("No module named 'nowhere'", self.call("explain", "nowhere", code=1).stderr)
        self.assertIn("there is no file ./no.so", self.call("explain", "./no.so", code=1).stderr)
        (WORK / "lib").mkdir()
        (WORK / "lib/broken.so").write_bytes(library.read_bytes()[:1000])
        self.assertRegex(self.call("explain", "lib", code=1).stdout, "^broken   .*broken.so: .* expected")

    def test_cache(self):
        own = WORK / "cache"
        limits = "limits: size 10GiB, age since the last use 30d\n"
        self.assertEqual(self.call("cache", "--cache", own).stdout, f"{own}: 0 copies, 0.0 MB\n{limits}")
        self.assertFalse(own.exists(), "asking makes nothing")
        self.script("nothing.py", "import _csv\n")
        self.call("run", "--cache", own, "nothing.py")
        self.assertRegex(
            self.call("cache", "--cache", own).stdout, rf"^{own}: [1-9]\d* copies, [\d.]+ MB\n{limits}$")
        self.assertRegex(self.call("cache", "clear", "--cache", own).stdout, r"[1-9]\d* copies, .* removed\n")
        self.assertEqual(self.call("cache", "--cache", own).stdout, f"{own}: 0 copies, 0.0 MB\n{limits}")
        self.call("run", "--cache", own, "nothing.py")
        (WORK / "file").write_text("in the way")
        self.assertIn(f"{WORK}/file", self.call("cache", "--cache", WORK / "file", code=1).stderr)

    def test_cache_limits(self):
        own = WORK / "cache"
        said = self.call("cache", "--cache", own, "--limit", "500MB", "--max-age=14d").stdout
        self.assertEqual(said, f"{own}: 0 copies, 0.0 MB\nlimits: size 500MB, age since the last use 14d\n")
        said = self.call("cache", "--cache", own, "--limit", "none").stdout
        self.assertIn("limits: size none, age since the last use 14d\n", said)
        self.script("nothing.py", "import _csv\n")
        self.call("run", "--cache", own, "nothing.py")
        copies = list(own.glob("??/*"))
        self.assertGreater(len(copies), 1)
        month_ago = time.time() - 30 * 24 * 3600
        os.utime(copies[0], (month_ago, month_ago))
        said = self.call("cache", "--cache", own, "--max-age", "28d").stdout
        self.assertRegex(said, r"^1 copies, [\d.]+ MB removed\n")
        self.assertEqual(set(own.glob("??/*")), set(copies[1:]))
        self.assertRegex(self.call("cache", "--cache", own, "--limit", "1kB").stdout, r"removed\n.*: 0 copies")
        # Bad ones are told, and can be written anew.
        (own / "limits").write_text("size plenty\n")
        for command in (["cache"], ["cache", "--limit", "1GB"]):
            said = self.call(*command, "--cache", own, code=1).stderr
            self.assertIn(f'{own}/limits: found "size plenty\n"; expected', said)
        self.assertRegex(self.call("doctor", "--cache", own, code=1).stdout, "(?m)^cache +PROBLEM: .*limits")
        self.call("run", "--cache", own, "nothing.py")
        said = self.call("cache", "--cache", own, "--limit", "1GB", "--max-age", "none").stdout
        self.assertIn("limits: size 1GB, age since the last use none\n", said)
        self.assertIn("cannot set the limits", self.call("cache", "--cache", WORK / "nothing.py", "--limit", "1GB", "--max-age", "1d", code=1).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
