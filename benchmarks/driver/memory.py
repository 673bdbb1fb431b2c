"""What one more interpreter costs, in time and in memory, against one more process."""

import contextlib
import statistics
import subprocess

from processes import Asked, make_copies, multipy, rival
from results import Key, Results

BARE_STARTS = 5  # in a row, of which the median counts: one takes some 10 ms
PROCESSES = ("fresh process", "forkserver worker")
WHOLE = "multipy, whole torch"  # without InterpreterOptions::slimTorch


def _workers(plan, kind: str) -> Asked:
    return rival(plan, "new_processes.py", kind)


def _derive_over_fresh(results: Results, metric: str, unit: str, keys: dict[str, Key], model: str = "") -> None:
    for name in ("multipy", WHOLE, "forkserver worker"):
        results.derive(Key(metric, name, model, unit=unit), keys[name], keys["fresh process"], lambda a, b: a / b)


def ready(plan, results: Results) -> None:
    """Seconds until one more can work with torch; the first of each kind, which
    warms caches and starts the fork server, is left out."""
    plan.say("making interpreters and processes ready")
    make_copies(plan, 2 * (plan.repeats + 1))
    times = {name: Key("ready_s", name, unit="s") for name in ("multipy", WHOLE, *PROCESSES)}
    bare = {name: Key("bare_ready_ms", name, unit="ms") for name in ("multipy, no torch", "fresh process, no torch")}
    make_copies(plan, BARE_STARTS * (plan.repeats + 1), torch=False)
    with contextlib.ExitStack() as stack:
        program = stack.enter_context(multipy(plan))
        fresh = stack.enter_context(_workers(plan, "fresh"))
        forked = stack.enter_context(_workers(plan, "forkserver"))
        without_torch = stack.enter_context(multipy(plan)), stack.enter_context(_workers(plan, "bare"))
        for repeat in range(plan.repeats + 1):
            started, imported = program.ask("extra"), program.ask("extra_torch")
            whole = program.ask("extra_whole") + program.ask("extra_torch")
            other, worker = fresh.ask("start"), forked.ask("start")
            bares = [
                statistics.median(process.ask("extra") for _ in range(BARE_STARTS)) for process in without_torch
            ]
            if repeat > 0:
                for key, seconds in zip(bare.values(), bares):
                    results.add(key, seconds * 1000)
                results.add(times["multipy"], started + imported)
                results.add(times[WHOLE], whole)
                results.add(times["fresh process"], other)
                results.add(times["forkserver worker"], worker)
    _derive_over_fresh(results, "ready_ratio", "x of a fresh process", times)
    results.derive(
        Key("ready_ratio", "multipy, no torch", unit="x of a fresh process"), *bare.values(), lambda a, b: a / b
    )


def footprint(plan, results: Results) -> None:
    """PSS that one more adds to the sum over all processes of its kind, once it has
    torch, has called an operator and has collected garbage. One kind after the
    other, with nothing else alive: PSS divides what is shared."""
    steps = {}

    def measure(name: str, process: Asked, one_more) -> None:
        plan.say(f"memory: {name}")
        steps[name] = Key("extra_interpreter_pss_mb", name, unit="MB")
        one_more()
        one_more()
        for _ in range(plan.repeats):
            before = process.pss_mb()
            one_more()
            results.add(steps[name], process.pss_mb() - before)

    for name, start in (("multipy", "extra"), (WHOLE, "extra_whole")):
        with multipy(plan) as program:
            commands = (start, "extra_torch", "collect")
            measure(name, program, lambda: [program.ask(command) for command in commands])
    with _workers(plan, "fresh") as fresh:
        measure("fresh process", fresh, lambda: fresh.ask("start"))
    with _workers(plan, "forkserver") as forked:
        measure("forkserver worker", forked, lambda: forked.ask("start"))
    _derive_over_fresh(results, "extra_pss_ratio", "x of a fresh process", steps)


def stacks(plan, results: Results) -> None:
    """Seconds until one more serves a stack (rivals/stacks.py), and the PSS that it adds then,
    as footprint() takes it. Stacks whose packages the Python lacks are left out, and named."""
    folder = plan.here / "rivals"
    listed = subprocess.run([plan.python, folder / "stacks.py"], capture_output=True, text=True, check=True)
    for stack in plan.stacks:
        if stack in listed.stdout.split():
            _stack(plan, results, folder, stack)
        else:
            plan.say(f"stack {stack} left out: {plan.python} lacks a package of it")


def _stack(plan, results: Results, folder, stack: str) -> None:
    added, times = {}, {}

    def measure(name: str, process: Asked, one_more, settle=lambda: None) -> None:
        plan.say(f"stack {stack}: {name}")
        added[name] = Key("stack_pss_mb", name, stack, unit="MB")
        times[name] = Key("stack_ready_s", name, stack, unit="s")
        for _ in range(2):
            one_more(), settle()
        for _ in range(plan.repeats):
            before = process.pss_mb()
            results.add(times[name], one_more())
            settle()
            results.add(added[name], process.pss_mb() - before)

    serve = ("extra_call", folder, "stacks", "serve", stack)
    plan.say(f"stack {stack}: copies of its libraries")  # as make_copies() says
    with multipy(plan) as program:
        for _ in range(2 + plan.repeats):
            program.ask("extra"), program.ask(*serve)
    for name, start in (("multipy", "extra"), (WHOLE, "extra_whole")):
        with multipy(plan) as program:
            measure(name, program, lambda: program.ask(start) + program.ask(*serve), lambda: program.ask("collect"))
    for name, kind in zip(PROCESSES, ("fresh", "forkserver")):
        with rival(plan, "new_processes.py", kind, stack) as processes:
            measure(name, processes, lambda: processes.ask("start"))
    _derive_over_fresh(results, "stack_ready_ratio", "x of a fresh process", times, stack)
    _derive_over_fresh(results, "stack_pss_ratio", "x of a fresh process", added, stack)


def weights(plan, results: Results) -> None:
    """PSS that a further replica of a heavy model adds, over the size of its
    weights. The interpreters have torch, and have been called, before."""
    plan.say("memory: weights of a further replica")
    replicas = 1 + plan.repeats
    with multipy(plan) as program:
        program.ask("pool", "pool", replicas)
        program.ask("load", "pool", "light", plan.models / "identity.pt", "tensor:1x64")
        program.ask("lazily", "pool", "heavy", plan.models / "heavy.pt", "tensor:1x64")
        program.ask("bring", "pool", "heavy", 0)
        for interpreter in range(1, replicas):
            before = program.pss_mb()
            program.ask("bring", "pool", "heavy", interpreter)
            step = program.pss_mb() - before
            results.add(
                Key("weights_ratio", "multipy", f"{plan.heavy_megabytes} MB", unit="x of the weights"),
                step / plan.heavy_megabytes,
            )
