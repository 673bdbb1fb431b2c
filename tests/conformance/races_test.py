"""What is made of Helgrind's reports."""

import contextlib
import io
import tempfile
import unittest

import races

REPORT = """\
==7== Helgrind, a thread error detector
==7== ----------------------------------------------------------------
==7==
==7== Possible data race during read of size 8 at 0x236971E0 by thread #10
==7== Locks held: none
==7==    at 0x2369227E: libshm_init(char const*) (in /venv/torch/lib/libshm.so)
==7==    by 0x2E6D24AC: THPModule_initExtension(_object*, _object*) (in /cache/0a/libtorch_python.so)
==7==    by 0x1F13DB3B: _PzEval_EvalFrameDefault (in /cache/cf/libinterpreter.so)
==7==
==7== This conflicts with a previous write of size 8 by thread #11
==7==    at 0x23692290: libshm_init(char const*) (in /venv/torch/lib/libshm.so)
==7== ----------------------------------------------------------------
==7== Possible data race during write of size 4 at 0x1922C370 by thread #11
==7==    at 0x19620110: __add_to_environ (setenv.c:143)
==7==    by 0x20536A4A: os_putenv (in /cache/cf/libinterpreter.so)
"""


class Places(unittest.TestCase):
    def test_are_a_function_and_its_caller(self):
        self.assertEqual(
            list(races.places(REPORT)),
            [
                (
                    "read",
                    "libshm_init(char const*) [libshm.so]",
                    "THPModule_initExtension(_object*, _object*) [libtorch_python.so]",
                ),
                ("write", "__add_to_environ [setenv.c:143]", "os_putenv [libinterpreter.so]"),
            ],
        )

    def test_of_a_run_that_was_refused_or_of_another_tool_are_no_success(self):
        for text in ("==7== Memcheck, a memory error detector\n==7== ERROR SUMMARY: 0\n", REPORT):
            with tempfile.NamedTemporaryFile("w", suffix=".log") as report:
                report.write(text)
                report.flush()
                with contextlib.redirect_stderr(io.StringIO()) as said:
                    self.assertEqual(races.main([report.name]), 2)
            self.assertIn(report.name, said.getvalue())


if __name__ == "__main__":
    unittest.main()
