"""Rules of torch.package: intern, extern, mock, deny, hooks, broken dependencies."""

import io
import pathlib
import sys
import tempfile

import torch
from showing import raised, show
from torch.package import EmptyMatchError, PackageExporter, PackageImporter, PackagingError


def attempt(fill, **options):
    buffer = io.BytesIO()
    try:
        with PackageExporter(buffer, **options) as exporter:
            fill(exporter)
    except (PackagingError, EmptyMatchError) as error:
        print(type(error).__name__, str(error).splitlines()[:4])
        return None
    buffer.seek(0)
    return PackageImporter(buffer)


with tempfile.TemporaryDirectory() as folder:
    for name, text in {
        "conformance_top": "import conformance_base, conformance_gone_too_far\nvalue = conformance_base.value + 1\n",
        "conformance_base": "value = 41\n",
        "conformance_gone_too_far": "def f(): return 'real'\n",
    }.items():
        pathlib.Path(folder, f"{name}.py").write_text(text)
    sys.path.insert(0, folder)
    try:
        log = []

        def mocked(exporter):
            exporter.register_mock_hook(lambda e, name: log.append(("mock", name)))
            exporter.register_intern_hook(lambda e, name: log.append(("intern", name)))
            exporter.mock("conformance_gone*")
            exporter.intern("conformance_*")
            exporter.save_module("conformance_top")

        importer = attempt(mocked)
        print(log, importer.import_module("conformance_top").value)
        raised("mock", importer.import_module("conformance_gone_too_far").f)
        attempt(lambda e: e.save_module("conformance_top"))
        attempt(lambda e: (e.deny("conformance_base"), e.intern("conformance_*"), e.save_module("conformance_top")))
        attempt(lambda e: (e.extern("nothing.at.all", allow_empty=False), e.save_text("a", "b", "c")))
    finally:
        sys.path.remove(folder)
        for name in [n for n in sys.modules if n.startswith("conformance_")]:
            del sys.modules[name]
