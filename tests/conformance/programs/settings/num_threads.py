"""Threads within operations: this program's number stays while others set theirs."""

import threading

import torch
from showing import raised, show

before = torch.get_num_threads()
try:
    for number in 1, 3, 2, 5:
        torch.set_num_threads(number)
        for _ in range(100):
            assert torch.get_num_threads() == number, f"{torch.get_num_threads()} threads instead of {number}"
            torch.ones(1000).sum()
        print(torch.get_num_threads())
        heard = []
        thread = threading.Thread(target=lambda: heard.append(torch.get_num_threads()))
        thread.start()
        thread.join()
        print("a new thread has", heard)
    show("sum", torch.arange(300000).sum())
    raised("none", torch.set_num_threads, 0)
finally:
    torch.set_num_threads(before)
