"""The strategies that are compared: each a program that is asked, and how."""

import contextlib
import dataclasses

from models import MODELS, NAMED
from processes import Asked, multipy, rival

PROCESSES = ("fork workers", "forkserver workers", "spawn workers", "ring workers")


@dataclasses.dataclass(frozen=True)
class Strategy:
    name: str  # as the results have it
    side: Asked
    runs: tuple[str, ...]  # models
    prefix: str = ""  # of a model's name in what the program is asked
    suffix: str = ""
    limit: tuple[str, ...] | None = None  # the command that sets how many are used
    interpreters: int = 0  # how many there are: Pythons in one process, or processes

    def target(self, model: str) -> str:
        return f"{self.prefix}{model}{self.suffix}"

    @property
    def processes(self) -> bool:
        return self.name in PROCESSES

    def clients(self, n: int) -> int:
        """Client threads of an open load. Those of a process pool wait while its workers
        work: twice as many keep the workers busy."""
        return 2 * n if self.processes else n

    def used(self, n: int) -> int:
        """How many of n interpreters the results name: none of C++'s own."""
        return min(n, self.interpreters)

    def use(self, n: int) -> None:
        if self.limit is not None:
            self.side.ask(*self.limit, n)

    def throughput(self, model: str, threads: int, seconds: float) -> float:
        return self.side.ask("throughput", self.target(model), threads, seconds)

    def open(self, model: str, threads: int, rate: float, seconds: float, burst: int, seed: int) -> list[float]:
        return self.side.ask_for_many("open", self.target(model), threads, rate, seconds, burst, seed)


@contextlib.contextmanager
def line_up(plan):
    """All strategies, started, with their models loaded. While one is being measured, the
    others wait for a line or on a futex."""
    n = plan.interpreters
    with contextlib.ExitStack() as stack:
        cpp = stack.enter_context(multipy(plan))
        yield [
            _multipy(plan, cpp, n),
            _compiled_inside(plan, cpp, n),
            _folded(plan, cpp, n),
            _torchscript(plan, cpp),
            _aotinductor(plan, cpp, n),
            _python(plan, stack.enter_context(rival(plan, "threads.py"))),
            *(
                _pool(plan, stack.enter_context(rival(plan, "pool.py", method, n)), method, n)
                for method in ("fork", "forkserver", "spawn")
            ),
            _ring(plan, cpp, n),
        ]


def _input(plan, model) -> str:
    return model.input.format(corpus=plan.corpus)


def _multipy(plan, side: Asked, n: int) -> Strategy:
    side.ask("pool", "multipy", n)
    for model in MODELS:
        plan.say(f"multipy: loading {model.name}")
        side.ask("load", "multipy", model.name, plan.models / model.file, _input(plan, model))
    return Strategy(
        "multipy", side, tuple(model.name for model in MODELS), "multipy/", limit=("limit", "multipy"), interpreters=n
    )


def _compiled_inside(plan, side: Asked, n: int) -> Strategy:
    for model in MODELS:
        if model.name in plan.compiled:
            plan.say(f"multipy: compiling {model.name} in each interpreter")
            side.ask(
                "lazily", "multipy", f"{model.name}_compiled", plan.models / f"{model.name}_compiled.pt", model.input
            )
            for interpreter in range(n):
                side.ask("bring", "multipy", f"{model.name}_compiled", interpreter)
    return Strategy("multipy, torch.compile", side, plan.compiled, "multipy/", "_compiled", ("limit", "multipy"), n)


def _folded(plan, side: Asked, n: int) -> Strategy:
    model = NAMED["resnet18"]
    side.ask("load", "multipy", f"{model.name}_folded", plan.models / f"{model.name}_folded.pt", model.input)
    return Strategy("multipy, norms folded", side, (model.name,), "multipy/", "_folded", ("limit", "multipy"), n)


def _torchscript(plan, side: Asked) -> Strategy:
    scripted = [model for model in MODELS if model.scripted]
    for model in scripted:
        side.ask("torchscript", model.name, plan.models / f"{model.name}.torchscript", model.input)
    return Strategy("torchscript", side, tuple(model.name for model in scripted), "torchscript/")


def _aotinductor(plan, side: Asked, n: int) -> Strategy:
    for model in MODELS:
        if model.name in plan.aotinductor:
            side.ask("aotinductor", model.name, plan.models / f"{model.name}.pt2", model.input, n)
    return Strategy("aotinductor", side, plan.aotinductor, "aotinductor/")


def _python(plan, side: Asked) -> Strategy:
    plan.say("plain Python: loading")
    for model in MODELS:
        side.ask("load", model.name, plan.models / model.file, _input(plan, model))
    return Strategy("python", side, tuple(model.name for model in MODELS), interpreters=1)


def _pool(plan, side: Asked, method: str, n: int) -> Strategy:
    plan.say(f"{method} workers: starting")
    for name, package, kind in _of_processes(plan):
        side.ask("load", name, package, kind)
    side.ask("start")
    return Strategy(f"{method} workers", side, plan.processes_have, limit=("limit",), interpreters=n)


def _ring(plan, side: Asked, n: int) -> Strategy:
    plan.say("ring workers: starting")
    library = plan.program.with_name("multipy_benchmark_ring.so")
    worker = [plan.python, "-B", "-W", "ignore", plan.here / "rivals" / "ring_worker.py", library]
    models = [word for model in _of_processes(plan) for word in model]
    side.ask("ring", n, *worker, "--", *models)
    return Strategy("ring workers", side, plan.processes_have, "ring/", limit=("limit", "ring"), interpreters=n)


def _of_processes(plan) -> list[tuple]:
    return [
        (model.name, plan.models / model.file, _input(plan, model))
        for model in MODELS
        if model.name in plan.processes_have
    ]
