"""Exceptions in threads: in excepthook, in futures, in executors."""

import concurrent.futures
import threading

import torch
from showing import raised, show

seen = []
before, threading.excepthook = threading.excepthook, lambda a: seen.append((a.exc_type.__name__, str(a.exc_value)))
try:
    threads = [threading.Thread(target=lambda i=i: torch.ones(i) + torch.ones(i + 2)) for i in (2, 3)]
    for thread in threads:
        thread.start()
        thread.join()
finally:
    threading.excepthook = before
print(*seen, sep="\n")
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    raised("executor", pool.submit(lambda: torch.ones(2) @ torch.ones(3)).result)
future = torch.futures.Future()
future.set_exception(ValueError("in a future"))
raised("future", future.wait)
chained = torch.futures.Future().then(lambda f: f.value())
print(chained.done())
show("usable", torch.arange(3))
