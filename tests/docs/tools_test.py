"""Tests what the documentation is tested with: that each mistake in a page is found.

    python tools_test.py
"""

import contextlib
import io
import pathlib
import re
import tempfile
import unittest
from unittest import mock

import check_messages
import check_pages
import make_program
import page as pages


class ToolsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "docs").mkdir()
        patch = mock.patch.object(pages, "ROOT", self.root)
        patch.start()
        self.addCleanup(patch.stop)

    def write(self, text, name="docs/troubleshooting.md"):
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return name

    def refused(self, text, says):
        with self.assertRaisesRegex(pages.PageError, says):
            pages.read(self.write(text))

    def test_a_snippet_with_its_surroundings(self):
        page = pages.read(self.write(
            "text\n<!-- test given: x -->\n<!-- test before:\nint a;\n-->\n```cpp\nint b;\n```\n"
            "<!-- test after: require(b); -->\n<!-- for people -->\n"))
        (snippet,) = page.snippets
        self.assertEqual((snippet.line, snippet.code, snippet.text("given")), (7, "int b;\n", "x"))
        self.assertEqual(snippet.directives["before"], (4, "int a;"))
        self.assertEqual(snippet.text("after"), "require(b);")
        self.assertTrue(snippet.runs_in_program)

    def test_mistakes_in_a_page(self):
        self.refused("```\ncode\n```\n", "a block of ''")
        self.refused("```cpp\ncode\n", "without end")
        self.refused("<!-- test gives: x -->\n```cpp\n```\n", "'test gives', expected one of")
        self.refused("<!-- test given: x -->\ntext\n", "expected the block")
        self.refused("<!-- test after: x -->\n", "no block before it")

    def test_the_program_keeps_the_pages_lines(self):
        self.write("", "README.md")
        self.write("\n```cpp\n#include <map>\nstd::map<int, int> one;\n```\n")
        text = make_program.program()
        self.assertEqual(text.count("#include <map>"), 1)
        self.assertIn(f'#line 3 "{self.root}/docs/troubleshooting.md"\n\nstd::map<int, int> one;', text)
        self.write("<!-- test given: nothing -->\n```cpp\n```\n")
        self.assertRaisesRegex(pages.PageError, "names 'nothing'", make_program.program)

    def test_what_pages_refer_to(self):
        self.write("if [ -e x ]; then\n", "tests.txt")
        found = list(check_pages.problems(self.write(
            "[a](none.md) [b](#heading) [c](#no-heading) `src/none.cpp`\n# Heading\n    code\n"
            "```sh\nif\n```\n```cmake\nproject(x)\n```\n<!-- test as in: tests.txt -->\n```cmake\nproject(x)\n```\n")))
        for says in ("none.md, which does not exist", "no-heading, but", "src/none.cpp, which", "set in", "cannot parse",
                     "which tested file", "'project\\(x\\)' does not stand in tests.txt"):
            self.assertEqual(len([one for one in found if re.search(says, one)]), 1, (says, found))
        self.assertEqual(len(found), 7)

    def messages(self, page, source):
        self.write(page)
        self.write(source, "src/a.cpp")
        out = io.StringIO()
        with contextlib.redirect_stderr(out):
            failed = check_messages.main()
        self.assertEqual(bool(failed), bool(out.getvalue()))
        return out.getvalue()

    def test_messages(self):
        source = 'void f() {\n  throw LoadError("cannot " + x +\n                  " the file: "\n                  "gone");\n}\n'
        self.assertEqual(self.messages("# `cannot … the file: gone`\n", source), "")
        self.assertIn("no source can say", self.messages("# `cannot … the file: lost`\n", source))
        self.assertIn("src/a.cpp:2: docs/troubleshooting.md has no heading for 'cannot  …  the file: gone'",
                      self.messages("# `the folder`\n", source))


if __name__ == "__main__":
    unittest.main()
