"""multiprocessing's locks, values and queues in a dataset or an initializer's arguments, under the name
_multipy_sharing.

Processes inherit them, or open them again. Both sides are one process here, so a semaphore is the same at its
address, whatever start method it was made for; memory is mapped again, and what has a file descriptor gets one of its own.
"""

import os

from _multipy_by_value import IN_WORKER
from _multipy_crossing import with_subclasses

if IN_WORKER:
    import _multipy_host


class Sharing:
    """Within it, what this thread pickles (with `reducers`) may have multiprocessing's objects. To be kept
    until the worker has ended, and to be closed, at its own end at the latest, when the pickle has been loaded
    for the last time, or will not be."""

    def __init__(self):
        self._semaphores, self._descriptors = [], []

    def __enter__(self):
        from multiprocessing import context

        context.set_spawning_popen(self)
        return self

    def __exit__(self, kind, *_):
        from multiprocessing import context

        context.set_spawning_popen(None)
        if kind:
            self.close()

    def __del__(self):
        self.close()

    def begin(self):
        """Another pickle is made, also in place of the one before."""
        self._semaphores.clear()
        self.close()

    def close(self):
        while self._descriptors:
            os.close(self._descriptors.pop())

    def reducers(self):
        """What reduces objects of multiprocessing's types."""
        from multiprocessing import heap, reduction, synchronize

        found = {
            kind: reducer
            for kind, reducer in reduction.ForkingPickler._extra_reducers.items()
            # (torch registers its tensors there, which would go by shared memory.)
            if not (getattr(reducer, "__module__", None) or "").startswith("torch.")
        }
        found.update(dict.fromkeys(with_subclasses(synchronize.SemLock), self._reduce_semaphore))
        found[heap.Arena] = self._reduce_arena
        return found

    def _reduce_semaphore(self, lock):
        self._semaphores.append(lock)
        own = lock._semlock
        return semaphore_again, (type(lock), own.handle, own.kind, own.maxvalue)

    def _reduce_arena(self, arena):
        return arena_again, (arena.size, self.duplicate_for_child(arena.fd))

    # What multiprocessing asks of what spawns a process.

    def duplicate_for_child(self, descriptor):
        self._descriptors.append(os.dup(descriptor))
        return self._descriptors[-1]

    def DupFd(self, descriptor):
        return Descriptor(descriptor)


class Descriptor:
    def __init__(self, number):
        self._number = number

    def detach(self):
        """One of its own for who closes it."""
        return os.dup(self._number)


def arena_again(size, descriptor):
    from multiprocessing import heap

    return heap.Arena(size, descriptor)


def semaphore_again(kind, handle, number, most):
    import _multiprocessing

    lock = kind.__new__(kind)
    lock._semlock = _multiprocessing.SemLock._rebuild(handle, number, most, None)
    _multipy_host.keep_for_ever(lock._semlock)  # whose end would close the program's semaphore
    lock._is_fork_ctx = False
    lock._make_methods()
    return lock
