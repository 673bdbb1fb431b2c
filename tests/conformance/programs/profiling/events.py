"""The profiler: events, averages, shapes, record_function, schedules, export."""

import json
import os
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

x = torch.ones(8, 8)
with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True, with_stack=True) as run:
    with record_function("own block"):
        y = (x @ x).relu()
    y.sum()
names = [event.name for event in run.events()]
print([n for n in names if n.startswith("aten::") or n == "own block"])
for event in sorted(run.key_averages(group_by_input_shape=True), key=lambda e: (e.key, str(e.input_shapes))):
    if event.key.startswith("aten::") or event.key == "own block":
        print(event.key, event.count, event.input_shapes, event.flops)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "trace.json")
    run.export_chrome_trace(path)
    trace = json.load(open(path))
    print(sorted({e["name"] for e in trace["traceEvents"] if e.get("cat") in ("cpu_op", "user_annotation")}))
seen = []
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=1), on_trace_ready=lambda p: seen.append(p.step_num)) as run:
    for _ in range(6):
        x + 1
        run.step()
print(seen)
