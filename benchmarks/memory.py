"""What one more interpreter costs, in time and in memory, against one more process."""

import contextlib

from processes import Asked
from results import Key, Results


def _multipy(plan) -> Asked:
    return Asked(plan.program, plan.here / "python_loops.py")


def _workers(plan, kind: str) -> Asked:
    return Asked(plan.python, "-B", plan.here / "rival_processes.py", kind)


def ready(plan, results: Results, say) -> None:
    """Seconds until one more can work with torch; the first of each kind, which
    warms caches and starts the fork server, is left out."""
    say("making interpreters and processes ready")
    times = {name: Key("ready_s", name, unit="s") for name in ("multipy", "fresh process", "forkserver worker")}
    bare = Key("bare_ready_ms", "multipy, no torch", unit="ms")
    with contextlib.ExitStack() as stack:
        multipy = stack.enter_context(_multipy(plan))
        fresh = stack.enter_context(_workers(plan, "fresh"))
        forked = stack.enter_context(_workers(plan, "forkserver"))
        for repeat in range(plan.repeats + 1):
            started, imported = multipy.ask("extra"), multipy.ask("extra_torch")
            other, worker = fresh.ask("start"), forked.ask("start")
            if repeat > 0:
                results.add(bare, started * 1000)
                results.add(times["multipy"], started + imported)
                results.add(times["fresh process"], other)
                results.add(times["forkserver worker"], worker)
    for rival in ("fresh process", "forkserver worker"):
        results.derive(Key("ready_ratio", f"multipy / {rival}", unit="x"), times["multipy"], times[rival],
                       lambda a, b: a / b)


def footprint(plan, results: Results, say) -> None:
    """PSS that one more adds to the sum over all processes of its kind, once it has
    torch, has called an operator and has collected garbage. One kind after the
    other, with nothing else alive: PSS divides what is shared."""
    steps = {}

    def measure(name: str, process: Asked, one_more) -> None:
        say(f"memory: {name}")
        steps[name] = Key("extra_pss_mb", name, unit="MB")
        one_more()
        one_more()
        for _ in range(plan.repeats):
            before = process.pss_mb()
            one_more()
            results.add(steps[name], process.pss_mb() - before)

    with _multipy(plan) as multipy:
        commands = ("extra", "extra_torch", "collect")
        measure("multipy", multipy, lambda: [multipy.ask(command) for command in commands])
    with _workers(plan, "fresh") as fresh:
        measure("fresh process", fresh, lambda: fresh.ask("start"))
    with _workers(plan, "forkserver") as forked:
        measure("forkserver worker", forked, lambda: forked.ask("start"))
    for rival in ("fresh process", "forkserver worker"):
        results.derive(Key("extra_pss_ratio", f"multipy / {rival}", unit="x"), steps["multipy"], steps[rival],
                       lambda a, b: a / b)


def weights(plan, results: Results, say) -> None:
    """PSS that a further replica of a heavy model adds, over the size of its
    weights. The interpreters have torch, and have been called, before."""
    say("memory: weights of a further replica")
    replicas = max(2, plan.interpreters)
    with _multipy(plan) as multipy:
        multipy.ask("manager", replicas)
        multipy.ask("load", "light", plan.models / "identity.pt", "tensor:1x64")
        multipy.ask("lazily", "heavy", plan.models / "heavy.pt", "tensor:1x64")
        multipy.ask("bring", "heavy", 0)
        for interpreter in range(1, replicas):
            before = multipy.pss_mb()
            multipy.ask("bring", "heavy", interpreter)
            step = multipy.pss_mb() - before
            results.add(Key("weights_ratio", "multipy", f"{plan.heavy_megabytes} MB", unit="x of the weights"),
                        step / plan.heavy_megabytes)
