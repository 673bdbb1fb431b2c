"""Makes one C++ program of all pages' C++ snippets.

    python make_program.py OUTPUT.cpp

Each page is a namespace and each snippet a function in it. They keep the pages' line
numbers: what the compiler has to say, it says about the page. The program is told which
page's snippets to run.
"""

import pathlib
import re
import sys

import page as pages

# What `<!-- test given: ... -->` can name: code, and what it is made from.
GIVEN = {
    "manager": ([], "InterpreterManager manager(2);"),
    "session": (["manager"], "InterpreterSession session = manager.acquireOne();"),
    "package": (["manager"], 'Package package = manager.loadPackage("model.pt");'),
    "model": (["package"], 'ReplicatedObj model = package.loadPickle("model", "model.pkl");'),
    "x": ([], "const at::Tensor x = at::ones({3, 4});"),
}


def given(names):
    code, done = [], set()

    def add(name):
        if name in done:
            return
        done.add(name)
        if name not in GIVEN:
            raise pages.PageError(f"'test given' names '{name}', expected one of {', '.join(GIVEN)}")
        for other in GIVEN[name][0]:
            add(other)
        code.append(GIVEN[name][1])

    for name in names.split(","):
        if name.strip():
            add(name.strip())
    return "\n".join(code)


def at_line(snippet, line, code):
    return f'#line {line} "{pages.ROOT / snippet.page}"\n{code}\n'


def without_includes(code):
    """Includes are for the top of the file; the lines of the rest stay where they are."""
    return re.sub(r"^#include.*$", "", code, flags=re.MULTILINE)


def parts(snippet):
    code = at_line(snippet, snippet.line, without_includes(snippet.code))
    before = after = ""
    if snippet.has("before"):
        before = at_line(snippet, *_code(snippet, "before"))
    if snippet.has("after"):
        after = at_line(snippet, *_code(snippet, "after"))
    return before, code, after


def _code(snippet, directive):
    line, code = snippet.directives[directive]
    return line, without_includes(code)


def includes_of(snippets):
    everything = "".join(
        text + "\n" for snippet in snippets
        for text in (snippet.code, *(entry[1] for entry in snippet.directives.values())))
    return re.findall(r"^#include.*$", everything, re.MULTILINE)


def namespace_of_page(name, snippets):
    code, runs = [], []
    for snippet in snippets:
        before, middle, after = parts(snippet)
        if snippet.has("definitions"):
            code.append(before + middle + after)
            continue
        scope = f"line_{snippet.line}"
        whole = before + middle + after
        if re.search(r"^int main\(", snippet.code, re.MULTILINE):
            code.append(f"namespace {scope} {{\n{whole}\nvoid run() {{ mustBeZero(main()); }}\n}}")
        else:
            code.append(f"namespace {scope} {{\nvoid run() {{\n{given(snippet.text('given'))}\n{whole}}}\n}}")
        if snippet.runs_in_program:
            runs.append((snippet.line, scope))
    return code, runs


def program():
    includes, code, runs = {}, [], []
    for number, name in enumerate(pages.pages()):
        snippets = [snippet for snippet in pages.read(name).snippets
                    if snippet.language == "cpp" and not snippet.has("as in") and not snippet.has("file")]
        includes |= dict.fromkeys(includes_of(snippets))
        body, calls = namespace_of_page(name, snippets)
        code += [f"namespace page_{number} {{", *body, "}"]
        runs += [f'    {{"{name}", {line}, page_{number}::{scope}::run}},' for line, scope in calls]
    return "\n".join([
        *includes, '#include "surroundings.h"', "using namespace multipy::runtime;", "namespace {", *code, "}",
        "int main(int count, char** words) {", "  return multipy_docs::runPage(count, words, {", *runs, "  });", "}", ""])


if __name__ == "__main__":
    try:
        pathlib.Path(sys.argv[1]).write_text(program(), encoding="utf-8")
    except pages.PageError as error:
        sys.exit(f"error: {error}")
