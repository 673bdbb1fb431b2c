"""Checks what needs no build: that the pages' links and files are there, that their
commands can be parsed, that what is quoted from a file stands in it.

    python check_pages.py
"""

import re
import subprocess
import sys

import page as pages

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
# In `code`: a path from the repository's folder.
PATH = re.compile(r"^(?:src|interpreter|include|tests|scripts|docs|examples|benchmarks|cmake|tools|third_party|python)/[\w./-]+$")


def anchors(text):
    """The names that GitHub gives to headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        found.add(re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-"))
    return found


def link_problem(name, target):
    if re.match(r"[a-z]+:", target):
        return None
    path, _, anchor = target.partition("#")
    file = (pages.ROOT / name).parent / path if path else pages.ROOT / name
    if not file.exists():
        return f"links to {target}, which does not exist"
    if anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
        return f"links to {target}, but there is no such heading"
    return None


def path_problem(code):
    if PATH.match(code) and not (pages.ROOT / code).exists():
        return f"names {code}, which does not exist"
    return None


def normal(line):
    return re.sub(r"\s+", " ", line.split(" #")[0]).strip()


def snippet_problems(snippet):
    if snippet.language == "sh":
        parsed = subprocess.run(["bash", "-nc", snippet.code], capture_output=True, text=True, check=False)
        if parsed.returncode != 0:
            yield f"bash cannot parse it: {parsed.stderr.strip()}"
        for word in re.findall(r"^(?:\S+=\S+ )*((?:scripts|benchmarks)/\S+)", snippet.code, re.MULTILINE):
            if not (pages.ROOT / word).exists():
                yield f"calls {word}, which does not exist"
    if snippet.language == "cmake" and not snippet.has("as in"):
        yield "a cmake block is not run: say with 'test as in' which tested file has it"
    if snippet.has("as in"):
        file = pages.ROOT / snippet.text("as in")
        there = {normal(line) for line in file.read_text(encoding="utf-8").splitlines()}
        for line in snippet.code.splitlines():
            if normal(line) and normal(line) not in there:
                yield f"'{normal(line)}' does not stand in {snippet.text('as in')}"


def problems(name):
    page = pages.read(name)
    for line, text in page.prose:
        found = [link_problem(name, target) for target in LINK.findall(CODE.sub("", text))]
        found += [path_problem(code) for code in CODE.findall(text)]
        if text.startswith("    "):
            found.append("code that is set in is not tested: put it into a fence")
        for problem in filter(None, found):
            yield f"{name}:{line}: {problem}"
    for snippet in page.snippets:
        for problem in snippet_problems(snippet):
            yield f"{snippet.place}: {problem}"


def main():
    found = []
    for name in pages.pages():
        try:
            found += problems(name)
        except pages.PageError as error:
            found.append(str(error))
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
