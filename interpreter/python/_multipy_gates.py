"""One way into each package: one thread at a time loads modules of it.

CPython has a lock for each module. Two threads that import parts of one package come to
wait for each other's modules (`import torch` for torch.nn, `import torch.nn` for torch);
CPython sees that and lets one of them have a module that is half executed. Programs import
once, at their top; in an interpreter the first requests of a server import, all at once.

So there is a gate before the locks of modules, one for each top-level name. A thread that
has to load something of a package, or wants a module of it that another thread is
executing, passes the package's gate first, and keeps it until its import is done:

    thread 1   import torch.nn       holds the gate of torch; loads torch, whole, and torch.nn
    thread 2   import torch          waits at the gate, holding no lock of a module of torch
    thread 3   from torch import fx  waits as well

What is loaded already is imported as ever, without a look at a gate; only while a package
is being executed do its finished modules wait for it, too (see before_import()).

Deadlocks. A gate is a lock of the import system's own kind, so the import system's search
for deadlocks sees threads that wait at gates, and those at gates see the locks of modules.
Where packages import each other in a circle from two threads, though their modules may not, a
thread that waits at a gate goes on without it, and has what plain Python has. It is the one that
closes the circle, or, where that one waits for a module, one that looks from time to time whether
there is such a circle: a module is waited for as long as plain Python waits. A thread
gives CPython's lock of all imports back while it waits (finders are called with it). A
thread that was started within an import may pass the gates which that import holds: the
module that started it may wait for it. A thread that imports in an initialiser of C++
(std::call_once, a static variable) may be waited for by the import that it waits for; it
goes on without the gate then. So does, before others, a thread that executes a lazy module
(GoingOn): what it waits for is another module, of which it may need nothing.

Threads: every function with the GIL, from any thread. Nothing waits with the GIL.
"""

import _imp
import posix
import sys
from _frozen_importlib import (
    _calc___package__,
    _DeadlockError,
    _find_and_load_unlocked,
    _ModuleLock,
    _ModuleLockManager,
    _resolve_name,
)
from _thread import RLock, allocate_lock, get_ident

import _frozen_importlib as _bootstrap
import _multipy_host

_MISSING = object()
_gates = {}  # top-level name -> Gate
_tokens = iter(range(1, sys.maxsize))
_live = set()  # tokens of the imports that hold gates
_watched = {}  # module -> what before_load() and failed() are called of


def watch(name, watcher):
    """Of a module that can be loaded once only. `watcher.before_load()` is called before it is,
    which may raise, and `watcher.failed(error)` when loading it has raised something. Meanwhile
    the thread is not interrupted: until the import system has the module, an interrupt would make
    it forget what has been executed to the end."""
    _watched[name] = watcher


_has_deadlock_of_importlib = _ModuleLock.has_deadlock
_going_on = set()  # threads


class GoingOn:
    """Within it, where waits close a circle, this thread goes on without the gate that it waits at, and
    no other one does."""

    __slots__ = ("_added",)

    def __enter__(self):
        self._added = None if get_ident() in _going_on else get_ident()
        _going_on.add(get_ident())

    def __exit__(self, *error):
        _going_on.discard(self._added)


def _has_deadlock(lock):
    """Of a lock that this thread comes to, in place of CPython's search."""
    if not _has_deadlock_of_importlib(lock) and not _multipy_host.is_initializing():
        return False
    return _goes_on(lock, _circle_from(lock.owner))


def _goes_on(lock, circle):
    """Whether this thread is the one that goes on without `lock`."""
    if not circle:
        return False
    if get_ident() in _going_on:
        return True
    others = circle[:-1]
    if not _going_on.isdisjoint(others):
        return False
    # Without a module lock a thread gets a module half executed.
    return isinstance(lock, GateLock) or not any(
        isinstance(each, GateLock) for thread in others for each in _locks_waited_for(thread)
    )


def _circle_from(thread, seen=None):
    """The threads that wait one for the other, for locks of imports and for initialisers, from
    `thread` to this one; None if it does not wait for this one."""
    if seen is None:
        seen = {None}
    if thread in seen:
        return None
    seen.add(thread)
    if thread == get_ident():
        return [thread]
    owners = [lock.owner for lock in _locks_waited_for(thread)]
    for other in [*owners, _multipy_host.initializer_waited_for(thread)]:
        rest = _circle_from(other, seen)
        if rest:
            return [thread, *rest]
    return None


def _locks_waited_for(thread):
    locks = _bootstrap._blocking_on.get(thread, ())
    return (locks,) if isinstance(locks, _ModuleLock) else tuple(locks)  # the first: up to CPython 3.11


class _Wakeup:
    """The lock that threads wait at until the holder of a gate leaves. They look whether it has come to
    wait for them."""

    __slots__ = ("_gate", "_lock")
    _SECONDS = 0.01  # between two looks

    def __init__(self, gate):
        self._gate = gate
        self._lock = allocate_lock()

    def acquire(self, blocking=True):
        if not blocking:
            return self._lock.acquire(False)
        while not self._lock.acquire(True, self._SECONDS):
            if _goes_on(self._gate, _circle_from(self._gate.owner)):
                raise _DeadlockError(f"deadlock detected by {self._gate!r}")
        return True

    def release(self):
        self._lock.release()


class GateLock(_ModuleLock):
    """A module lock that a garbage collection within it may come to again (as all of
    CPython 3.12's may)."""

    def __init__(self, name):
        super().__init__(name)
        self.wakeup = _Wakeup(self)
        if type(self.lock) is type(allocate_lock()):
            self.lock = RLock()


class _BlockingOn(dict):
    """What thread waits for which lock, for CPython up to 3.11: it expects that no thread comes
    to another lock while it is coming to one, but a garbage collection may import."""

    def __delitem__(self, thread):
        self.pop(thread, None)


class Gate:
    """Of one package. An import is known by a token, which threads that it starts inherit."""

    __slots__ = ("_lock", "_token")

    def __init__(self, package):
        self._lock = GateLock(f"<package {package}>")
        self._token = 0  # of the import that is inside

    @staticmethod
    def of(name):
        """The gate before a module."""
        package = name.partition(".")[0]
        return _gates.get(package) or _gates.setdefault(package, Gate(package))

    def enter(self):
        """What leave() is to be given; None if there is nothing to leave, since this import is
        inside already, or since waiting for the one that is would never end."""
        outer = _multipy_host.import_token()
        if outer and outer == self._token:
            return None
        try:
            if _imp.lock_held():
                with import_lock_given_back():
                    self._lock.acquire()
            else:
                self._lock.acquire()
        except _DeadlockError:
            return None
        token = outer
        if outer not in _live:
            token = next(_tokens)
            _live.add(token)
            _multipy_host.begin_import(token)
        self._token = token
        return outer

    def leave(self, outer):
        token, self._token = self._token, 0
        if token != outer:
            _live.discard(token)
            _multipy_host.end_import(outer)
        self._lock.release()


class inside:
    """Within it, this thread has passed the gate of a package. `going_on`: it has waited there as one
    that is GoingOn."""

    __slots__ = ("_gate", "_going_on", "_outer")

    def __init__(self, package, going_on=False):
        self._gate = Gate.of(package)
        self._going_on = going_on

    def __enter__(self):
        if self._going_on:
            with GoingOn():
                self._outer = self._gate.enter()
        else:
            self._outer = self._gate.enter()

    def __exit__(self, *error):
        if self._outer is not None:
            self._gate.leave(self._outer)


class GivenBack:
    """A lock that this thread does not hold within, however often it holds it outside."""

    __slots__ = ("_acquire", "_release", "_times")

    def __init__(self, acquire, release):
        self._acquire, self._release = acquire, release
        self._times = 0

    def __enter__(self):
        try:
            while True:
                self._release()
                self._times += 1
        except RuntimeError:
            pass  # not held (any more)

    def __exit__(self, *error):
        for _ in range(self._times):
            self._acquire()


def import_lock_given_back():
    """The import system holds it while it asks finders, for all modules."""
    return GivenBack(_imp.acquire_lock, _imp.release_lock)


# --- what the import system calls in place of its own

_lock_unlock_of_importlib = _bootstrap._lock_unlock_module


def _is_executing(module):
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


class _Loading:
    """Within it, this thread may load a module: it has passed the gate and has the module's lock."""

    __slots__ = ("_name", "_gate", "_outer", "_lock", "_watcher")

    def __init__(self, name):
        self._name = name
        self._gate = Gate.of(name)
        self._lock = self._watcher = None

    def __enter__(self):
        self._outer = self._gate.enter()
        try:
            self._take_lock()
            if self._name in _watched and self._name not in sys.modules:
                _watched[self._name].before_load()
                self._watcher = _watched[self._name]
                _multipy_host.put_interrupts_off()
        except BaseException:
            self._leave()
            raise

    def _take_lock(self):
        lock = _ModuleLockManager(self._name)
        try:
            lock.__enter__()
        except _DeadlockError:
            return  # another thread is at this module, and waits for this one
        self._lock = lock

    def __exit__(self, kind, error, traceback):
        if error is not None and self._watcher is not None:
            self._watcher.failed(error)
        self._leave()

    def _leave(self):
        if self._watcher is not None:
            _multipy_host.allow_interrupts()
        if self._lock is not None:
            self._lock.__exit__()
        if self._outer is not None:
            self._gate.leave(self._outer)


def _find_and_load(name, import_):
    module = sys.modules.get(name, _MISSING)
    if module is _MISSING or _is_executing(module):
        with _Loading(name):
            module = sys.modules.get(name, _MISSING)
            if module is _MISSING:
                return _find_and_load_unlocked(name, import_)
    if module is None:
        raise ModuleNotFoundError(f"import of {name} halted; None in sys.modules", name=name)
    return module


def _lock_unlock_module(name):
    """Waits until another thread's import of the module, and all of its package, is done."""
    _wait_at_gate(name)
    _lock_unlock_of_importlib(name)


def _wait_at_gate(name):
    gate = Gate.of(name)
    outer = gate.enter()
    if outer is not None:
        gate.leave(outer)


def before_import(name, names, level):
    """Before an import by a thread that is in none, while another thread is in one: waits for
    the module and the packages above it that are being executed. (CPython looks at the module
    alone, and then takes it even if its code has raised.)"""
    try:
        if level > 0:
            name = _resolve_name(name, _calc___package__(names), level)
    except Exception:
        return  # the import itself says what is wrong
    while name:
        if _is_executing(sys.modules.get(name)):
            _wait_at_gate(name)
        name = name.rpartition(".")[0]


def _stay_in_forked_child():
    """In a child of fork(), which has this thread alone: no other import is under way."""
    mine = _multipy_host.import_token()
    for package, gate in list(_gates.items()):
        gate._lock = GateLock(f"<package {package}>")
        if mine and gate._token == mine:
            gate._lock.acquire()
        else:
            gate._token = 0
    _live.intersection_update({mine})


def install():
    """From now on imports of this interpreter pass the gates. Once."""
    if type(_bootstrap._blocking_on) is dict:
        _bootstrap._blocking_on = _BlockingOn(_bootstrap._blocking_on)
    for function in (_find_and_load, _lock_unlock_module):
        # What importlib's frames are known by, which do not appear in tracebacks.
        function.__code__ = function.__code__.replace(co_filename="<frozen importlib._bootstrap>")
    _ModuleLock.has_deadlock = _has_deadlock
    posix.register_at_fork(after_in_child=_stay_in_forked_child)
    _bootstrap._find_and_load = _find_and_load
    _bootstrap._lock_unlock_module = _lock_unlock_module
    _multipy_host.call_before_imports(before_import)
