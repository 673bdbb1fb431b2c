"""The default device, as a setting and as a context."""

import threading

import torch

print(torch.get_default_device(), torch.ones(1).device)
try:
    torch.set_default_device("meta")
    print(torch.get_default_device(), torch.ones(1).device, torch.nn.Linear(1, 1).weight.device)
    print(torch.ones(1, device="cpu").device)
    with torch.device("cpu"):
        print(torch.get_default_device(), torch.arange(2).device)
    thread = threading.Thread(target=lambda: print("thread", torch.get_default_device(), torch.empty(1).device))
    thread.start()
    thread.join()
finally:
    torch.set_default_device(None)
print(torch.ones(1).device)
