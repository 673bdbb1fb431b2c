import io
import os
import pathlib
import tempfile

import Cython
from Cython.Compiler import Options
from Cython.Compiler.Main import CompilationOptions, compile_single

with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder, "fib.pyx")
    source.write_text("def fib(int n):\n    cdef long a = 0, b = 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n")
    here = os.getcwd()
    result = compile_single(str(source), CompilationOptions(language_level=3), "fib")
    text = pathlib.Path(result.c_file).read_text()
    print(result.num_errors, "PyInit_fib" in text, len(text.splitlines()), Cython.Compiler.Scanning.__file__.endswith(".so"))
