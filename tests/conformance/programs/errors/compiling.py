"""Texts that are compiled while the program runs: their results, warnings, errors and tracebacks."""

import __future__

import collections
import dataclasses
import traceback
import warnings

TEXTS = [
    "x = 1\nx is 1\n", 's = "\\d"\n', 'assert (1, "always")\n', "1()\n", "[1, 2][1, 2]\n", "y = 0x1for x in ()\n",
    "def f(:\n", "return\n", "x = 1 +\n", '"\\N{no such name}"', "(" * 300, "a\n  b\n", "nonlocal x", "1 / 0",
    "x = -0.0, 1e400, {1: 2}, 3 in {1, 2, 3}, b'bytes', '\\ud800', ...\n",
    "def f():\n  '''doc'''\n  raise ValueError(f'{1 + 1}')\nf()\n",
    "from __future__ import annotations\ndef f(x: no_such_name): pass\nx = f.__annotations__\n",
]

for turn in range(2):
    for number, text in enumerate(TEXTS):
        scope = {}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                exec(text, scope)
            except Exception as error:
                lines = traceback.format_exception_only(error)
                inside = [(f.filename, f.lineno, f.name) for f in traceback.extract_tb(error.__traceback__)[1:]]
                print(turn, number, ascii("".join(lines)), inside)
            else:
                print(turn, number, ascii(scope.get("x")))
        for warning in caught:
            print(turn, number, warning.category.__name__, ascii(str(warning.message)), warning.filename, warning.lineno)

# The same text, and what it means otherwise.
TEXT = "def f(x: int = 1):\n  'doc'\n  assert x, 'told apart'\n  return __debug__\n"
ANNOTATIONS = __future__.annotations.compiler_flag
for turn in range(2):
    for options in {}, {"optimize": 0}, {"optimize": 1}, {"optimize": 2}, {"flags": ANNOTATIONS}, {}:
        for filename in "one", "two":
            scope = {}
            exec(compile(TEXT, filename, "exec", **options), scope)
            code = scope["f"].__code__
            print(turn, options, code.co_filename, code.co_flags, code.co_consts, scope["f"].__annotations__)
    for mode in "exec", "eval", "single":
        print(turn, mode, compile("told + apart", "one", mode).co_code.hex())
inherits = "from __future__ import annotations\nscope = {}\nexec(TEXT, scope)\nprint(scope['f'].__annotations__)"
exec(TEXT, scope := {})
print(scope["f"].__annotations__)
exec(inherits)


@dataclasses.dataclass(order=True)
class Point:
    """Compiles its methods."""

    x: int
    y: "float" = 0.5
    names: list = dataclasses.field(default_factory=list, compare=False)


Pair = collections.namedtuple("Pair", "left right", defaults=[3])
print(Point(1), Point(1) < Point(2), Point.__init__.__annotations__, Point.__init__.__code__.co_varnames)
print(Pair(1), Pair(1)._replace(left=2), Pair.__new__.__code__.co_filename)
print(eval("[n ** 2 for n in range(4)]"), eval(compile("1 + 2", "a file", "eval")))
