"""Checks docs/troubleshooting.md against the sources, both ways:

  - each message that a heading of it quotes can still be thrown: all that is fixed of it
    stands in one file, in that order (a … stands for what differs from case to case);
  - each error that a user can be shown has a heading.

    python check_messages.py
"""

import re
import sys

import page as pages

PAGE = "docs/troubleshooting.md"
SOURCES = {"src": (".cpp", ".h"), "interpreter": (".cpp", ".h", ".py"), "cmake": (".cmake", ".in", ".py")}
# A wrong argument or our own mistake: the text is all there is to say.
EXPLAINED = ("ConversionError", "EnvironmentError", "HandleError", "LoadError", "CacheError", "PackageError",
             "UnsupportedTorchError")
THROW = re.compile(r"(?:throw (?:runtime::)?(?:" + "|".join(EXPLAINED) + r")|conversionFailure)\((.*?)\);", re.DOTALL)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def texts(code):
    """The string literals of some C++, CMake or Python, those side by side as one."""
    found, end = [], None
    for literal in LITERAL.finditer(code):
        text = re.sub(r"\\(.)", lambda escape: {"n": "\n", "t": "\t"}.get(escape[1], escape[1]), literal[1])
        if end is not None and not code[end : literal.start()].strip():
            found[-1] += text
        else:
            found.append(text)
        end = literal.end()
    return found


def without_comments(code):
    return re.sub(r"^[ \t]*(//|#).*$", "", code, flags=re.MULTILINE)


def sources():
    for folder, endings in SOURCES.items():
        for path in sorted((pages.ROOT / folder).rglob("*")):
            if path.suffix in endings:
                yield path, without_comments(path.read_text(encoding="utf-8"))


def quoted():
    """(line, fixed parts) of each message in a heading."""
    for line, text in pages.read(PAGE).prose:
        if text.startswith("#"):
            for message in re.findall(r"`([^`]+)`", text):
                yield line, [part.strip() for part in message.split("…") if part.strip()]


def stands_in(parts, literals):
    at = 0
    for part in parts:
        at = literals.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def main():
    problems = []
    headings = list(quoted())
    if not headings:
        problems.append(f"{PAGE}: no heading quotes a message")
    files = [(path, code, "\0".join(texts(code))) for path, code in sources()]
    for line, parts in headings:
        if not any(stands_in(parts, literals) for _, _, literals in files):
            problems.append(f"{PAGE}:{line}: no source can say '{' … '.join(parts)}' any more")
    for path, code, _ in files:
        if path.suffix != ".cpp" or path.is_relative_to(pages.ROOT / "cmake"):
            continue
        for throw in THROW.finditer(code):
            literals = "\0".join(texts(throw[1]))
            if re.search("[a-z]", literals) and not any(stands_in(parts, literals) for _, parts in headings):
                where = f"{path.relative_to(pages.ROOT)}:{code.count(chr(10), 0, throw.start()) + 1}"
                problems.append(f"{where}: {PAGE} has no heading for '{literals.replace(chr(0), ' … ')}'")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
