"""Runs a page's snippets: Python, files and commands as they come, then its C++ program.

    python run_page.py PAGE FOLDER PROGRAM [--path FOLDER_OF_COMMANDS]

in FOLDER, which is emptied before. Python is the one that runs this. Commands are run if
it is said where `multipy` is.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

import page as pages


def run(command, folder, place):
    print(f"-- {place}", flush=True)
    done = subprocess.run(command, cwd=folder, check=False)
    if done.returncode != 0:
        raise pages.PageError(f"{place}: ended with code {done.returncode}, expected 0")


def with_surroundings(snippet):
    """Behind as many empty lines that tracebacks name the lines of the page."""
    before = snippet.directives["before"][1] + "\n" if snippet.has("before") else ""
    after = snippet.directives["after"][1] + "\n" if snippet.has("after") else ""
    padding = "\n" * max(0, snippet.line - 1 - before.count("\n"))
    return padding + before + snippet.code + after


def prepare(page, folder, commands):
    for other in page.first:
        prepare(pages.read(other), folder, commands=False)
    for snippet in page.snippets:
        if snippet.has("file"):
            (folder / snippet.text("file")).write_text(with_surroundings(snippet), encoding="utf-8")
        elif snippet.has("as in"):
            continue
        elif snippet.language == "python":
            # A file of its own: worker processes import it again.
            script = folder / f"{pathlib.Path(page.name).stem}_{snippet.line}.py"
            script.write_text(with_surroundings(snippet), encoding="utf-8")
            run([sys.executable, "-B", script.name], folder, snippet.place)
        elif snippet.language == "sh" and snippet.has("runs") and commands:
            run(["bash", "-euc", snippet.code], folder, snippet.place)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("page")
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("program")
    arguments.add_argument("--path", default="")
    given = arguments.parse_args()
    # The interpreters' Python is the one whose snippets have written the packages.
    if sys.prefix != sys.base_prefix:
        os.environ["VIRTUAL_ENV"] = sys.prefix
    if given.path:
        os.environ["PATH"] = given.path + os.pathsep + os.environ["PATH"]
    shutil.rmtree(given.folder, ignore_errors=True)
    given.folder.mkdir(parents=True)
    try:
        page = pages.read(given.page)
        prepare(page, given.folder, commands=bool(given.path))
        if any(snippet.runs_in_program for snippet in page.snippets):
            run([given.program, given.page], given.folder, f"the C++ of {given.page}")
    except pages.PageError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
