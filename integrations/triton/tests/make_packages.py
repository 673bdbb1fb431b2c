"""Writes torch.package files as models of Triton's, each into a folder of its own below the one that
is named.

    make_packages.py FOLDER
"""

import pathlib
import sys
import types

from torch.package import PackageExporter

SOURCE = '''
import torch


class Doubles(torch.nn.Module):
    """With weights: so many megabytes of ones."""

    def __init__(self, megabytes):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(megabytes * 262144))

    def forward(self, x):
        return x * 2 * self.weight[0]


class Several(torch.nn.Module):
    """A dict, with the number of elements that it was called with."""

    def forward(self, a, b):
        count = torch.full((len(a), 1), len(a), dtype=torch.int32)
        return {"SUM": a + b, "COUNT": count, "MORE": 3}


class Wrong(torch.nn.Module):
    def forward(self, x):
        way = int(x[0])
        if way == 1:
            raise ValueError("way 1")
        if way == 2:
            return "a text"
        if way == 3:
            return x, x
        if way == 4:
            return x.double()
        return x
'''

CONFIGURATIONS = {
    "package_doubles": '''
backend: "multipy"
max_batch_size: 8
input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
instance_group [ { kind: KIND_CPU count: 2 } ]
''',
    "package_several": '''
backend: "multipy"
max_batch_size: 8
dynamic_batching { max_queue_delay_microseconds: 300000 preferred_batch_size: [ 4 ] }
input [
  { name: "B" data_type: TYPE_FP32 dims: [ 2 ] },
  { name: "A" data_type: TYPE_FP32 dims: [ 2 ] }
]
output [
  { name: "COUNT" data_type: TYPE_INT32 dims: [ 1 ] },
  { name: "SUM" data_type: TYPE_FP32 dims: [ 2 ] }
]
instance_group [ { kind: KIND_CPU } ]
parameters { key: "RESOURCE" value { string_value: "several.pkl" } }
''',
    "package_wrong": '''
backend: "multipy"
input [ { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] } ]
output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
instance_group [ { kind: KIND_CPU } ]
''',
}


def main(folder):
    module = types.ModuleType("triton_packaged")
    exec(SOURCE, module.__dict__)  # its classes are of this module: its name is known in there
    sys.modules["triton_packaged"] = module
    objects = {
        "package_doubles": (module.Doubles(100), "model.pkl"),
        "package_several": (module.Several(), "several.pkl"),
        "package_wrong": (module.Wrong(), "model.pkl"),
    }
    for name, (model, resource) in objects.items():
        version = folder / name / "1"
        version.mkdir(parents=True, exist_ok=True)
        (folder / name / "config.pbtxt").write_text(CONFIGURATIONS[name])
        with PackageExporter(str(version / "model.pt")) as exporter:
            exporter.save_source_string("triton_packaged", SOURCE)
            exporter.extern(["torch", "torch.**"])
            exporter.save_pickle("model", resource, model)
    empty = folder / "package_broken" / "1"
    empty.mkdir(parents=True, exist_ok=True)
    (empty / "model.pt").write_bytes(b"no archive")
    (folder / "package_broken" / "config.pbtxt").write_text(CONFIGURATIONS["package_wrong"])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
