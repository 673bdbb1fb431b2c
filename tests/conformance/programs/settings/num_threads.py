"""The number of threads: set, in other threads, and what it changes."""

import threading

import torch
from showing import raised, show


def in_new_thread(function, *arguments):
    got = []
    thread = threading.Thread(target=lambda: got.append(function(*arguments)))
    thread.start()
    thread.join()
    return got[0]


def set_and_get(number):
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    return before, torch.get_num_threads()


def told():
    lines = torch.__config__.parallel_info().splitlines()
    return [line.strip() for line in lines if "_get_max_threads()" in line]


torch.set_num_threads(3)
show("set", torch.get_num_threads())
show("told", told())
show("in a new thread", in_new_thread(torch.get_num_threads))

computed = threading.Event()
changed = threading.Event()
seen = []


def computes_early():
    seen.append(torch.get_num_threads())
    computed.set()
    changed.wait()
    seen.append(torch.get_num_threads())


early = threading.Thread(target=computes_early)
early.start()
computed.wait()
show("set in a thread", in_new_thread(set_and_get, 2))
changed.set()
early.join()
show("a thread from before", seen)
show("here", torch.get_num_threads())
show("in a thread after that", in_new_thread(torch.get_num_threads))

x = torch.arange(400_000, dtype=torch.float32).remainder(7).reshape(500, 800)
for number in 1, 4, 2:
    torch.set_num_threads(number)
    show(f"sum by {number}", x.sum(1).sum())
    show(f"product by {number}", (x @ x.t()).sum())
    weight = x.clone().requires_grad_()
    weight.relu().sum().backward()
    show(f"gradient by {number}", weight.grad.sum())
raised("none", torch.set_num_threads, 0)
raised("not a number", torch.set_num_threads, "3")
torch.set_num_threads(1)
