"""A profile in steps: waiting, warming up, recording, and what is called at the end of each."""

import torch
from torch.profiler import ProfilerActivity, profile, schedule
from waiting import until_free

x = torch.ones(8)


def run():
    ready = []

    def on_ready(profiled):
        names = {event.name for event in profiled.events()}
        ready.append((profiled.step_num, "aten::add" in names, "aten::mul" in names))

    steps = schedule(wait=1, warmup=1, active=1, repeat=2)
    with profile(activities=[ProfilerActivity.CPU], schedule=steps, on_trace_ready=on_ready) as profiled:
        for step in range(8):
            x + 1
            if step == 5:
                x * 2
            profiled.step()
    return ready


print(until_free(run))
