"""A package of many interned modules, imported once for each thread."""

import io
import threading

import torch
from showing import show
from torch.package import PackageExporter, PackageImporter

buffer = io.BytesIO()
with PackageExporter(buffer) as exporter:
    exporter.extern("torch.**")
    for i in range(120):
        following = f"from .m{i - 1} import f as g" if i else "import torch\ndef g(x): return x"
        exporter.save_source_string(f"chain.m{i}", f"{following}\ndef f(x): return g(x) + {i}\n")
results = [None] * 4
importers = []
for _ in results:
    importers.append(PackageImporter(io.BytesIO(buffer.getvalue())))


def use(index):
    try:
        results[index] = importers[index].import_module("chain.m119").f(torch.zeros(2))
    except Exception as error:
        results[index] = f"{type(error)}: {error}"


threads = [threading.Thread(target=use, args=(i,)) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
show("results", results)
print(importers[0].import_module("chain.m3") is not importers[1].import_module("chain.m3"))
