"""os.path.realpath(): of what is there, of what is not, through links and loops."""

import inspect
import os
import pickle
import tempfile

from showing import raised

with tempfile.TemporaryDirectory() as folder:
    folder = os.path.realpath(folder)
    at = lambda name: os.path.join(folder, name)
    os.makedirs(at("a/b"))
    for name in ("file", "a/b/file", "grüße", "a/with space"):
        open(at(name), "w").close()
    for link, target in (
        ("link", "a/b"),
        ("a/up", ".."),
        ("a/b/absolute", at("file")),
        ("dangling", "nowhere"),
        ("loop", "pool"),
        ("pool", "loop"),
        ("self", "self"),
        ("proc", "/proc/self"),
    ):
        os.symlink(target, at(link))
    names = (
        "", ".", "/", "//", "file", "file/", "file/.", "file/..", "file/x", "a", "a/", "a/.", "a/..", "a//b",
        "a/./b/file", "a/b/../b/file", "a/b/file", "link", "link/", "link/file", "link/..", "link/absolute", "a/up",
        "a/up/file", "a/up/a/up/link/file", "dangling", "dangling/x", "loop", "loop/x", "self", "missing", "missing/x",
        "a/missing", "grüße", "a/with space", "a/with space/", ".a", "a/.b", "..a", "a/b/...", "nul\0", "x" * 300,
        "a/" * 3000,
    )  # fmt: skip

    def shown(path):
        if isinstance(path, bytes):
            return path.replace(os.fsencode(folder), b"@")
        return path.replace(folder, "@")

    def real(what, path, **strict):
        try:
            result = os.path.realpath(path, **strict)
        except (OSError, ValueError, TypeError) as error:
            print(what, type(error).__name__, shown(str(error))[:200])
        else:
            print(what, type(result).__name__, shown(result)[:200])

    class Text(str):
        pass

    class Path:
        def __init__(self, path):
            self.path = path

        def __fspath__(self):
            return self.path

    for name in names:
        for strict in (False, True):
            real((name[:80], strict), at(name), strict=strict)
        real((name[:80], "doubled"), "/" + at(name))
        real((name[:80], "bytes"), os.fsencode(at(name)))
        real((name[:80], "subclass"), Text(at(name)))
        real((name[:80], "os.PathLike"), Path(at(name)))
        if "/" not in name[-1:]:
            real((name[:80], "relative"), os.path.relpath(at(name.replace("\0", ""))))
    for path in ("/", "//", "///", "/.", "/..", "/tmp/..", "", ".", b"/", None, 3, "/\0"):
        print(path, end=" ")
        try:
            print(repr(os.path.realpath(path)) if path not in ("", ".") else os.path.realpath(path) == os.getcwd())
        except (TypeError, ValueError) as error:
            print(type(error).__name__, error)
    raised("an unknown argument", os.path.realpath, "/", loose=True)
    raised("two arguments", os.path.realpath, "/", True)

    # A program's own os.lstat is asked.
    asked = []
    lstat = os.lstat
    os.lstat = lambda path, **named: asked.append(path) or lstat(path, **named)
    os.path.realpath(at("a/b/file"))
    os.lstat = lstat
    print("asked", [shown(path) for path in asked if path.startswith(folder)])

    print(inspect.signature(os.path.realpath), os.path.realpath.__name__, os.path.realpath.__module__)
    print(inspect.getdoc(os.path.realpath))
    raised("source", inspect.getsource, os.path.realpath)  # posixpath is frozen
    print(pickle.loads(pickle.dumps(os.path.realpath)) is os.path.realpath)
