"""Long constants of modules that are read from .pyc files, by all that can be done with a str."""

import codecs
import copy
import ctypes
import gc
import importlib
import inspect
import io
import json
import marshal
import pickle
import pathlib
import py_compile
import re
import sys
import tempfile
import textwrap
import tracemalloc

import numpy
import torch
from showing import raised

LINE = "The quick brown fox jumps over the lazy dog, again and again. "
SOURCE = f'''"""Of a module: {LINE * 8}"""
TEXT = "{LINE * 6}"
SAME = "{LINE * 6}"
NAME = "{"a_long_name_" * 40}"
UMLAUT = "{LINE * 6}äöü"
WIDE = "{LINE * 6}\\U0001f600"
NUL = "{LINE * 3}\\0{LINE * 3}"
SHORT = "{LINE}"
IN_TUPLE = ("{LINE * 7}", "{LINE * 7}")
BYTES = b"{LINE * 7}"

def function(argument="{LINE * 6}"):
    """Of a function: {LINE * 8}"""
    return "{LINE * 9}"

def other():
    """Of a function: {LINE * 8}"""
    return "{LINE * 9}", TEXT

class Class:
    """Of a class: {LINE * 8}"""

    def method(self):
        """Of a method:
        {LINE * 8}

            indented {LINE * 4}
        """
'''
TEXTS = "TEXT", "SAME", "NAME", "UMLAUT", "WIDE", "NUL", "SHORT"


def digest(value):
    return hash_of(repr(value)), type(value).__name__, len(value) if hasattr(value, "__len__") else value


def hash_of(text):
    import hashlib

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def use(what, text):
    shown = io.StringIO()
    print(text, file=shown)
    results = dict(
        printed=shown.getvalue(), repr=repr(text), upper=text.upper(), lower=text.lower(), title=text.title(),
        sliced=text[3:77], reversed=text[::-1], all_of_it=text[:], first=text[0], last=text[-1], added=text + "x",
        added_before="x" + text, doubled=text * 2, once=text * 1, joined="-".join([text, text]), joined_one="".join([text]),
        split=text.split(), partition=text.partition("fox"), replaced=text.replace("fox", "cat"), stripped=text.strip(),
        stripped_of_nothing=text.strip("?"), centred=text.center(2000), counted=text.count("o"), found=text.find("lazy"),
        found_last=text.rfind("lazy"), starts=text.startswith("The"), ends=text.endswith(". "), contains="fox" in text,
        not_in="wolf" in text, equal=text == str(text.encode("utf-8", "surrogatepass"), "utf-8", "surrogatepass"),
        compared=(text < "The", text > "The", text != text + "x"), encoded=text.encode(), utf16=text.encode("utf-16-le"),
        translated=text.translate({102: "F", 113: None}), formatted=f"{text:>1500}{text!r}", percent="%s|%r" % (text, text),
        casefolded=text.casefold(), ascii=(text.isascii(), text.isprintable(), text.isidentifier()), json=json.dumps(text),
        back_from_json=json.loads(json.dumps(text)) == text, pickled=pickle.loads(pickle.dumps(text)) == text,
        pickles=[pickle.dumps(text, protocol) for protocol in range(6)], copied=copy.deepcopy(text) is text,
        marshalled=marshal.dumps(text), from_marshal=marshal.loads(marshal.dumps(text)) == text, set={text, text + ""} == {text},
        dict={text: 1}[text[:1] + text[1:]], equal_hashes=hash(text) == hash(text[:1] + text[1:]), searched=re.findall(r"\w+", text)[:9],
        substituted=re.sub("o", "0", text), wrapped=textwrap.wrap(text, 40), dedented=textwrap.dedent(text), cleaned=inspect.cleandoc(text),
        array=numpy.array([text, "x"]).tolist(), dtype=str(numpy.array([text]).dtype), bytes=codecs.encode(text, "utf-7"),
        lines=io.StringIO(text).readlines(), subclass=type("S", (str,), {})(text) == text, str_of_it=str(text) is text,
        identical=text is copy.copy(text), expanded=text.expandtabs(), zfill=text.zfill(900), iterated="".join(iter(text)) == text,
        utf8=ctypes.cast(ctypes.pythonapi.PyUnicode_AsUTF8(ctypes.py_object(text)), ctypes.c_char_p).value if "\0" not in text else None,
        wide=ctypes.create_unicode_buffer(text).value, float=_float(text), compiled=eval(repr(text)) == text,
        torch=torch.tensor([ord(c) for c in text]).sum().item(),
    )  # fmt: skip
    for name, value in results.items():
        print(what, name, *digest(value))
    text += "added in place"
    print(what, "in place", *digest(text))


def grown(texts):
    """CPython appends in place to what nothing else refers to."""
    text = texts.pop()
    text += " and more"
    text += text[:20]
    return text


for number in range(100):  # until it is specialized
    grown([str(number) * 300])


def _float(text):
    try:
        return float(text)
    except ValueError as error:
        return str(error)


ctypes.pythonapi.PyUnicode_AsUTF8.restype = ctypes.c_void_p

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "module_with_long_texts.py")
    file.write_text(SOURCE, "utf-8")
    compiled = py_compile.compile(str(file), dfile="module_with_long_texts.py", invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    code = marshal.loads(pathlib.Path(compiled).read_bytes()[16:])
    # Before version 3 it does not depend on what else refers to each object.
    print("marshalled again", hash_of(marshal.dumps(code, 2).hex()))
    print("marshalled again", hash_of(marshal.dumps(marshal.loads(marshal.dumps(code)), 2).hex()))
    sys.path.insert(0, folder)
    for round in range(2):
        module = importlib.import_module("module_with_long_texts")
        for name in TEXTS:
            use((round, name), getattr(module, name))
        for what in module, module.function, module.other, module.Class, module.Class.method:
            use((round, what.__name__), what.__doc__)
            print(round, *digest(inspect.getdoc(what)), *digest(pickle.dumps(what.__doc__)))
        print(
            "one object", module.TEXT is module.SAME, module.function.__doc__ is module.other.__doc__,
            module.function() is module.other()[0], module.function() is module.function(), module.IN_TUPLE[0] is module.IN_TUPLE[1],
            module.function.__defaults__[0] is module.TEXT, module.other()[1] is module.TEXT,
        )  # fmt: skip
        names = module.NAME, module.TEXT
        print("interned", *(sys.intern(name) is sys.intern(name[:1] + name[1:]) for name in names))
        print("consts", [digest(each) for each in code.co_consts if isinstance(each, str)])
        kept = module.function.__doc__
        module.function.__doc__ = None
        module.__dict__.pop("__doc__")
        code = marshal.loads(pathlib.Path(compiled).read_bytes()[16:])
        del sys.modules["module_with_long_texts"], module
        gc.collect()
        print("kept", *digest(kept))
        raised("as a number", int, kept)
        texts = [kept]
        del kept
        print("grown", *digest(grown(texts)))

    # Blocks that are counted.
    tracemalloc.start()
    module = importlib.import_module("module_with_long_texts")
    print("traced", *digest(module.TEXT), tracemalloc.get_object_traceback(module.TEXT) is not None)
    del module, sys.modules["module_with_long_texts"]
    gc.collect()
    tracemalloc.stop()
    module = importlib.import_module("module_with_long_texts")
    tracemalloc.start()
    texts = [module.TEXT, module.__doc__, module.function.__doc__]
    del module, sys.modules["module_with_long_texts"]
    gc.collect()
    print("freed while traced", [digest(text) for text in texts])
    del texts
    gc.collect()
    tracemalloc.stop()
