"""A DataLoader's worker, in an interpreter, under the name _multipy_loop: torch's own worker loop, in a thread of its
own, and what that has for its queues. The program steps it (_dataloader.py).
"""

import collections
import queue
import threading


class Loop:
    """torch's worker loop, in a thread of its own, and what it has for its queues and its event."""

    def __init__(self, target, arguments):
        self._changed = threading.Condition()
        self._items, self._results = collections.deque(), []
        self._is_waiting = self._is_over = self._is_done = False
        arguments.update(index_queue=self, data_queue=self, done_event=self)
        self._thread = threading.Thread(target=self._run, args=(target, arguments), daemon=True)
        self._thread.start()

    def _run(self, target, arguments):
        try:
            target(**arguments)
        finally:
            with self._changed:
                self._is_over = True
                self._changed.notify_all()

    def step(self, item, is_done):
        """What the loop has put when it waits for the next item, and whether it has ended."""
        with self._changed:
            self._is_done = is_done
            self._items.append(item)
            self._is_waiting = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_waiting or self._is_over)
            results, self._results = self._results, []
            return results, self._is_over

    def get(self, timeout=None):
        with self._changed:
            if not self._items:
                self._is_waiting = True
                self._changed.notify_all()
                if not self._changed.wait_for(lambda: self._items, timeout):
                    raise queue.Empty
            return self._items.popleft()

    def put(self, result):
        self._results.append(result)

    def is_set(self):
        return self._is_done

    def cancel_join_thread(self):
        pass

    close = cancel_join_thread


_loop = None


def begin(target, arguments):
    global _loop
    import torch
    from torch.utils.data._utils import signal_handling

    # The signals are the program's, and what is collated here needs no shared memory to be seen there.
    signal_handling._set_worker_signal_handlers = lambda: None
    torch.UntypedStorage._new_shared = classmethod(lambda cls, size, *, device="cpu": cls(size, device=device))
    _loop = Loop(target, arguments)


def step(item, is_done):
    return _loop.step(item, is_done)
