import pathlib
import re
import sys
import tempfile

import mypy.api
import mypy.nodes

with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder, "checked.py")
    source.write_text("def f(x: int) -> str:\n    return x\n\nreveal_type(f(1))\n")
    output, errors, status = mypy.api.run([str(source), "--cache-dir", f"{folder}/cache", "--python-executable", sys.executable])
    print(re.sub(r"\S*checked", "checked", output), errors, status, mypy.nodes.__file__.endswith(".so"))
