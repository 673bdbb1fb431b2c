"""The profiler: events, averages, shapes, flops, record_function, an exported trace."""

import json
import os
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, record_function
from waiting import until_free

try:
    # torch 2.13 imports it while it traces, and keeps the address of the name of code that is
    # gone when the trace is read. (In plain Python, too.)
    import torch.profiler._cupti_monitor  # noqa: F401
except ModuleNotFoundError:
    pass

x = torch.ones(8, 8)


def run():
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True, with_stack=True) as profiled:
        with record_function("own block"):
            y = (x @ x).relu()
        y.sum()
    return profiled


profiled = until_free(run)
print([event.name for event in profiled.events() if event.name.startswith("aten::") or event.name == "own block"])
for event in sorted(profiled.key_averages(group_by_input_shape=True), key=lambda e: (e.key, str(e.input_shapes))):
    if event.key.startswith("aten::") or event.key == "own block":
        print(event.key, event.count, event.input_shapes, event.flops)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "trace.json")
    profiled.export_chrome_trace(path)
    with open(path, errors="replace") as file:  # torch 2.6 writes stray bytes in it, now and then
        trace = json.load(file, strict=False)
    print(sorted({e["name"] for e in trace["traceEvents"] if e.get("cat") in ("cpu_op", "user_annotation")}))
