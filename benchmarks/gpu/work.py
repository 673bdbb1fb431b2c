"""What each worker of benchmarks/gpu/run does: calls of a model on the GPU, for some seconds."""

import json
import os
import threading
import time

import torch


def model():
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).cuda().eval()


def report(arguments):
    """{"calls", "ready" (seconds since `asked`), "gpu" (bytes in use on it), "pss" (of this process)} as JSON"""
    job = json.loads(arguments[0])
    answers = model(), torch.randn(job["batch"], 32, 256, device="cuda")
    counts = [0] * job["threads"]
    threads = [threading.Thread(target=call, args=(*answers, job, counts, i)) for i in range(job["threads"])]
    with torch.inference_mode():
        answers[0](answers[1]).sum().item()
    ready = time.time() - job["asked"]
    for thread in threads:
        thread.start()
    time.sleep(max(0, job["begin"] + job["seconds"] / 2 - time.time()))
    free, total = torch.cuda.mem_get_info()
    pss = proportional_set_size()
    for thread in threads:
        thread.join()
    return json.dumps({"calls": sum(counts), "ready": ready, "gpu": total - free, "pss": pss})


def call(model, x, job, counts, place):
    with torch.inference_mode():
        for _ in range(20):
            model(x).sum().item()
        if time.time() > job["begin"]:
            raise RuntimeError(f"not ready in time: {time.time() - job['begin']:.1f} s late; a later start is needed")
        time.sleep(job["begin"] - time.time())
        while time.time() < job["begin"] + job["seconds"]:
            model(x).sum().item()
            counts[place] += 1


def proportional_set_size():
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("Pss:"))


if __name__ == "__main__":
    import sys

    print(report(sys.argv[1:]))
