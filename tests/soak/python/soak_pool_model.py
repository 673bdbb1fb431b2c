"""A model that is called in a pool which changes meanwhile.

Each call has an id. It tells C++ when it begins and when it ends (operators that the soak defines),
and its answer can be had with this id and of this version only. (`multipy` is there in interpreters,
and not where the package is made.)
"""

import queue
import socket
import threading
import time

import torch


class PoolModel:
    def __init__(self, version, numbers):
        self.version = version
        self.numbers = torch.full((numbers,), float(version))

    def __call__(self, what, id, x, seconds):
        torch.ops.pool_soak.begun(id)
        getattr(self, what)(id, seconds)
        answer = x * self.numbers[:x.numel()] + id % 1000
        torch.ops.pool_soak.ended(id)
        return id, self.version, answer

    # --- that come to an end

    def compute(self, id, seconds):
        pass

    def nap(self, id, seconds):
        time.sleep(seconds)

    def count(self, id, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass

    def fail(self, id, seconds):
        raise ValueError(id)

    def give_in(self, id, seconds):
        """Has an answer after all."""
        from multipy import Interrupted
        try:
            time.sleep(3600)
        except Interrupted:
            pass

    def hold_on(self, id, seconds):
        """For so long, whatever is raised: condemns its interpreter."""
        from multipy import Interrupted
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                time.sleep(0.01)
            except Interrupted:
                pass

    # --- that have to be interrupted

    def loop(self, id, seconds):
        while True:
            pass

    def torch_loop(self, id, seconds):
        x = torch.ones(64)
        while True:
            x = x + 1

    def sleep(self, id, seconds):
        time.sleep(3600)

    def lock(self, id, seconds):
        taken = threading.Lock()
        taken.acquire()
        taken.acquire()

    def get(self, id, seconds):
        queue.Queue().get()

    def receive(self, id, seconds):
        one, other = socket.socketpair()
        with one, other:
            one.recv(1)
