"""Which names of a function or a module have to be classes, by its bytecode: C code takes nothing
else in `except` clauses and in class patterns of `match`."""

import opcode
import sys
import types

_EXTENDED_ARG = opcode.opmap["EXTENDED_ARG"]
# except A, except (A, b.C): loads, and an operation that takes the class, or a tuple of them.
_MATCH_EXCEPTION = opcode.opmap.get("CHECK_EXC_MATCH") or opcode.opmap["JUMP_IF_NOT_EXC_MATCH"]
# case A(), case b.C(x=1): loads of the class and of a tuple of names, and an operation that takes both.
_MATCH_CLASS = opcode.opmap["MATCH_CLASS"]
_LOAD_CONST = opcode.opmap["LOAD_CONST"]
_CACHE = 0  # what lies between the operations, from CPython 3.11 on
_GIVE_CLASSES = {
    opcode.opmap[name] for name in ("BUILD_TUPLE", "EXTENDED_ARG", "LOAD_ATTR", "LOAD_GLOBAL", "LOAD_NAME")
} | {_CACHE}
_GLOBALS_SHIFT = sys.version_info >= (3, 11)  # a LOAD_GLOBAL's lowest bit says something else
_NAMES = {
    opcode.opmap["LOAD_GLOBAL"]: lambda code, argument: code.co_names[argument >> _GLOBALS_SHIFT],
    opcode.opmap["LOAD_NAME"]: lambda code, argument: code.co_names[argument],
}


def classes_needed_in(code):
    """The names in the `except` clauses and class patterns of code and of the functions in it."""
    operations = code.co_code[::2]
    for at in _places_of(_MATCH_EXCEPTION, operations):
        yield from _loaded_before(at, code, operations)
    for at in _places_of(_MATCH_CLASS, operations):
        yield from _loaded_before(operations.rfind(_LOAD_CONST, 0, at), code, operations)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from classes_needed_in(constant)


def _places_of(operation, operations):
    at = operations.find(operation)
    while at >= 0:
        yield at
        at = operations.find(operation, at + 1)


def _loaded_before(at, code, operations):
    at -= 1
    while operations[at] in _GIVE_CLASSES:
        names = _NAMES.get(operations[at])
        if names:
            yield names(code, _argument(code.co_code, 2 * at))
        at -= 1


def _argument(bytecode, at):
    argument, shift = bytecode[at + 1], 8
    while at >= 2 and bytecode[at - 2] == _EXTENDED_ARG:
        at -= 2
        argument |= bytecode[at + 1] << shift
        shift += 8
    return argument
