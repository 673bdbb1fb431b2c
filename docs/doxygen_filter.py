"""Shows a public header to Doxygen: prints it with its comments as Doxygen wants them.

    python docs/doxygen_filter.py HEADER

The headers are written to be read as they are: an essay in `//`, `///` above members,
`//` behind them. For Doxygen
  - the essay is about the class that the file is named after, or else about the file;
  - a comment behind a member is that member's, one behind `struct X {` is X's;
  - an overload without a comment right below one with it shares it;
  - constructors, copying and moving are described here, once for all classes, where
    the header has nothing more to say of them.
No line moves, so that Doxygen's messages name the right ones.
"""

import pathlib
import re
import sys

NAMESPACE = "multipy::runtime"
CLASS = re.compile(r"^(?:class|struct) (\w+)(?: final)?(?: :[^;{]*)?\s*\{", re.MULTILINE)
BEHIND = re.compile(r"^(?P<code>\s*[^\s/].*?[;,{}]) +// (?!---)(?P<comment>.*)")
FUNCTION = re.compile(r"^\s*(?:\[\[\w+\]\] )?(?:[\w:<>&*, ]+ )?(?P<name>operator\S+?|~?\w+)\(")
COPY_OR_MOVE = re.compile(r"^\s*(?:[\w:]+& )?(?:(?P<class>\w+)\((?:const )?(?P=class)\b|operator=\()(?P<rest>.*)")
SECTION = re.compile(r"^ ((?:Threads|Errors|Life)(?: of the constructor)?): ")


def subject_of(path, text):
    """obj.h is about the class Obj; deploy.h, which includes all others, is the front page."""
    if path.match("multipy/runtime/deploy.h"):
        return "@mainpage The C++ API"
    name = path.stem.replace("_", "").lower()
    for found in CLASS.finditer(text):
        if found[1].lower() == name:
            return f"@class {NAMESPACE}::{found[1]}"
    return f"@file {path.name}"


def essay_for_doxygen(lines):
    """What is set in is code, or a table that is to stay as it is."""
    inside = False
    for line in (line.removeprefix("//") for line in lines):
        code = line.startswith("   ")
        if code != inside and line:
            yield "@code{.cpp}" if code else "@endcode"
            inside = code
        yield SECTION.sub(r"@par \1\n", line)
    if inside:
        yield "@endcode"


def usual(line, name, classes):
    """What there is to say of constructors and assignments."""
    if "= delete" in line:
        return None
    if found := COPY_OR_MOVE.match(line):
        if "&&" in found["rest"]:
            return "Moves. What is left behind can be assigned to and destroyed."
        return "Copies." if found["class"] else "Assigns."
    return "Constructs; the description of the class tells the rest." if name in classes else None


def members_for_doxygen(lines, classes):
    comment, documented = [], ("", "")  # the name and comment of the function above
    for line in lines:
        if line.lstrip().startswith("///"):
            comment.append(line.strip().removeprefix("///").strip())
            yield line
            continue
        own, comment = " ".join(comment), []
        function = FUNCTION.match(line)
        name = function["name"] if function else ""
        if behind := BEHIND.match(line):
            if re.match(r"\s*(class|struct|enum)\b.*\{$", behind["code"]):
                line = f"/** {behind['comment']} */ {behind['code']}"
            else:
                line = f"{behind['code']} ///< {behind['comment']}"
        elif name and not own:
            text = usual(line, name, classes) or (documented[1] if name == documented[0] else None)
            if text:
                line, own = f"/** {text} */ {line}", text
        if name:
            documented = (name, own)
        elif not line.strip():
            documented = ("", "")
        yield line


def main():
    path = pathlib.Path(sys.argv[1])
    essay, separator, rest = path.read_text(encoding="utf-8").partition("#pragma once\n")
    if not separator:
        sys.exit(f"{path}: found no line '#pragma once', expected an essay in '//' and then that")
    classes = {found[1] for found in re.finditer(r"^ *(?:class|struct) (\w+)[^;]*$", rest, re.MULTILINE)}
    essay = essay.splitlines()
    print("//\n" * len(essay) + separator.strip())
    print(*members_for_doxygen(rest.splitlines(), classes), sep="\n")
    print("/**", subject_of(path, rest), *essay_for_doxygen(essay), "*/", sep="\n")


if __name__ == "__main__":
    main()
