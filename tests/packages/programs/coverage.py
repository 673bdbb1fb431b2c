import pathlib
import tempfile

import coverage

with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder, "measured.py")
    source.write_text("def f(x):\n    if x:\n        return 1\n    return 2\n\n\nf(1)\n")
    measured = coverage.Coverage(data_file=None, branch=True, include=[str(source)])
    measured.start()
    exec(compile(source.read_text(), str(source), "exec"), {})
    measured.stop()
    _, statements, _, missing, _ = measured.analysis2(str(source))
    print(statements, missing, measured._collector.tracer_name())
