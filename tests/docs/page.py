"""A page of the documentation, taken apart into its snippets.

A snippet is a fenced block. What its reader can think of but its compiler cannot is
said in HTML comments, which pages do not show:

    <!-- test given: model, x -->       names that exist already (make_program.GIVEN)
    <!-- test before: CODE -->          code in front of the snippet
    <!-- test after: CODE -->           code behind it; stands behind the fence
    <!-- test definitions: -->          C++: classes and functions, for all that follow
    <!-- test only compiles: REASON --> C++: is not run
    <!-- test file: NAME -->            is not run but written to a file of that name
    <!-- test first: PAGE -->           the page's Python and files come before this page's
    <!-- test runs: -->                 sh: is run; otherwise its syntax is checked
    <!-- test as in: FILE -->           every line of it stands in this file, which is tested

`python`, `cpp`, `sh`, `cmake` and `text` blocks may stand in a page.
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LANGUAGES = {"python", "cpp", "sh", "cmake", "text"}
DIRECTIVES = {"given", "before", "after", "definitions", "only compiles", "file", "first", "runs", "as in"}
FENCE = re.compile(r"^( *)```(.*)$")
COMMENT = re.compile(r"<!--\s*test ([a-z ]+):(.*?)-->", re.DOTALL)


class PageError(Exception):
    pass


@dataclasses.dataclass
class Snippet:
    page: str
    line: int  # of the code's first line
    language: str
    code: str
    directives: dict  # name -> (line, text)

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    def text(self, directive):
        return self.directives[directive][1].strip() if directive in self.directives else ""

    def has(self, directive):
        return directive in self.directives

    @property
    def runs_in_program(self):
        unrun = ("as in", "file", "definitions", "only compiles")
        return self.language == "cpp" and not any(map(self.has, unrun))


@dataclasses.dataclass
class Page:
    name: str  # relative to the repository
    snippets: list
    first: list  # names of pages
    prose: list  # (line, text) of what is in no fence


def read(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    page = Page(name, [], [], [])
    waiting = {}
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence:
            end = _end_of_fence(page, lines, at, fence[1])
            code = "".join(line.removeprefix(fence[1]) + "\n" for line in lines[at + 1 : end])
            language = fence[2].strip()
            if language not in LANGUAGES:
                raise PageError(f"{name}:{at + 1}: a block of '{language}', expected one of "
                                f"{', '.join(sorted(LANGUAGES))}")
            page.snippets.append(Snippet(name, at + 2, language, code, waiting))
            waiting = {}
            at = end + 1
        elif lines[at].lstrip().startswith("<!--"):
            end = next((i for i in range(at, len(lines)) if "-->" in lines[i]), None)
            if end is None:
                raise PageError(f"{name}:{at + 1}: a comment without end")
            _take_comment(page, waiting, at + 1, "\n".join(lines[at : end + 1]))
            at = end + 1
        else:
            if lines[at].strip() and waiting:
                raise PageError(f"{name}:{at + 1}: found text, expected the block that "
                                f"'test {next(iter(waiting))}' is about")
            page.prose.append((at + 1, lines[at]))
            at += 1
    if waiting:
        raise PageError(f"{name}: no block follows the last 'test {next(iter(waiting))}'")
    return page


def _end_of_fence(page, lines, begin, indent):
    for at in range(begin + 1, len(lines)):
        if lines[at] == indent + "```":
            return at
    raise PageError(f"{page.name}:{begin + 1}: a block without end")


def _take_comment(page, waiting, line, text):
    found = COMMENT.match(text.strip())
    if not found:
        return  # a comment for people
    directive, content = found[1], found[2]
    if directive not in DIRECTIVES:
        raise PageError(f"{page.name}:{line}: 'test {directive}', expected one of "
                        f"{', '.join(sorted(DIRECTIVES))}")
    # The code begins on the comment's own line or below it.
    entry = (line + len(content) - len(content.lstrip("\n")), content.strip("\n"))
    if directive == "first":
        page.first.append(content.strip())
    elif directive == "after":
        if not page.snippets or waiting:
            raise PageError(f"{page.name}:{line}: 'test after', but no block before it")
        page.snippets[-1].directives[directive] = entry
    else:
        waiting[directive] = entry


def pages():
    """The pages at the top and all of docs/, sorted."""
    paths = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in paths)
