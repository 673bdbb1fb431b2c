"""Which names a function's or module's `except` clauses take, by its bytecode."""

import opcode
import sys
import types

_EXTENDED_ARG = opcode.opmap["EXTENDED_ARG"]
# except A, except (A, b.C): loads, and an operation that takes the class, or a tuple of them.
_MATCH_EXCEPTION = opcode.opmap.get("CHECK_EXC_MATCH") or opcode.opmap["JUMP_IF_NOT_EXC_MATCH"]
_CACHE = 0  # what lies between the operations, from CPython 3.11 on
_GIVE_CLASSES = {
    opcode.opmap[name] for name in ("BUILD_TUPLE", "EXTENDED_ARG", "LOAD_ATTR", "LOAD_GLOBAL", "LOAD_NAME")
} | {_CACHE}
_GLOBALS_SHIFT = sys.version_info >= (3, 11)  # a LOAD_GLOBAL's lowest bit says something else
_NAMES = {
    opcode.opmap["LOAD_GLOBAL"]: lambda code, argument: code.co_names[argument >> _GLOBALS_SHIFT],
    opcode.opmap["LOAD_NAME"]: lambda code, argument: code.co_names[argument],
}


def names_caught_in(code):
    """The names in the `except` clauses of code and of the functions in it."""
    operations = code.co_code[::2]
    at = operations.find(_MATCH_EXCEPTION)
    while at >= 0:
        before = at - 1
        while operations[before] in _GIVE_CLASSES:
            names = _NAMES.get(operations[before])
            if names:
                yield names(code, _argument(code.co_code, 2 * before))
            before -= 1
        at = operations.find(_MATCH_EXCEPTION, at + 1)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_caught_in(constant)


def _argument(bytecode, at):
    argument, shift = bytecode[at + 1], 8
    while at >= 2 and bytecode[at - 2] == _EXTENDED_ARG:
        at -= 2
        argument |= bytecode[at + 1] << shift
        shift += 8
    return argument
