"""What a call, a session and a tensor's crossing cost by themselves."""

from processes import make_copies, multipy, rival
from results import Key, Results

CALLED = (("identity_tensor", "tensor:1x64"), ("identity_int", "int:1"))
CROWD, FEW = 64, 2  # threads on interpreters


def _minus(a: float, b: float) -> float:
    return a - b


def _over(a: float, b: float) -> float:
    return a / b


def calls(plan, results: Results) -> None:
    seconds = plan.seconds

    def key(strategy: str, model: str) -> Key:
        return Key("call_ns", strategy, model, 1, 1, "ns")

    wrap = {side: Key("detach_ns", side, "tensor", 1, 0, "ns") for side in ("python", "C++")}
    with multipy(plan) as program, rival(plan, "threads.py") as python:
        program.ask("pool", "pool", 1)
        for name, kind in CALLED:
            program.ask("load", "pool", name, plan.models / "identity.pt", kind)
            python.ask("load", name, plan.models / "identity.pt", kind)
        for repeat in range(plan.repeats):
            plan.say(f"cost of a call, repeat {repeat + 1} of {plan.repeats}")
            for name, _ in CALLED:
                results.add(key("python", name), python.ask("call", name, seconds))
                results.add(key("multipy", name), program.ask("call", "pool", name, seconds))
                results.add(key("multipy, kept session", name), program.ask("call_session", "pool", name, seconds))
                results.add(key("python in multipy", name), program.ask("call_inside", "pool", name, seconds))
            results.add(wrap["python"], python.ask("detach", seconds))
            results.add(wrap["C++"], program.ask("detach", seconds))
    for name, _ in CALLED:
        for strategy in ("multipy", "multipy, kept session", "python in multipy"):
            results.derive(
                Key("call_overhead_ns", strategy, name, 1, 1, "ns over plain Python"),
                key(strategy, name),
                key("python", name),
                _minus,
            )
    crossing = Key("tensor_crossing_ns", "multipy", "tensor", 1, 1, "ns")
    wrapping = Key("tensor_wrap_ns", "python", "tensor", 1, 0, "ns")
    results.derive(crossing, key("multipy", "identity_tensor"), key("multipy", "identity_int"), _minus)
    results.derive(wrapping, wrap["python"], wrap["C++"], _minus)
    results.derive(Key("tensor_crossing_over_wrap_ns", "multipy", "tensor", 1, 1, "ns"), crossing, wrapping, _minus)


def sessions(plan, results: Results) -> None:
    """A session's begin and end: alone, and in a crowd, against the handoff that an
    exclusive place would need."""
    seconds = plan.seconds
    with multipy(plan) as program:
        program.ask("pool", "pool", FEW)
        for repeat in range(plan.repeats):
            plan.say(f"sessions, repeat {repeat + 1} of {plan.repeats}")
            for threads in (1, CROWD):
                for metric, command in (("session_ns", "session"), ("session_entered_ns", "entered")):
                    results.add(
                        Key(metric, "multipy", "", threads, FEW, "ns"), program.ask(command, "pool", threads, seconds)
                    )
                results.add(
                    Key("handoff_ns", "mutex and futex", "", threads, FEW, "ns"),
                    program.ask("handoff", threads, FEW, seconds),
                )
    for threads in (1, CROWD):
        for metric in ("session", "session_entered"):
            results.derive(
                Key(f"{metric}_over_handoff", "multipy", "", threads, FEW, "x"),
                Key(f"{metric}_ns", "multipy", "", threads, FEW, "ns"),
                Key("handoff_ns", "mutex and futex", "", threads, FEW, "ns"),
                _over,
            )


def growth(plan, results: Results) -> None:
    """Start, memory, call and balance with more and more interpreters, and the memory of
    as many processes."""
    plan.say(f"copies for {max(plan.growth)} interpreters")
    make_copies(plan, max(plan.growth))
    for count in plan.growth:
        plan.say(f"{count} interpreters")
        _so_many_interpreters(plan, results, count)
    for kind, name in (("fresh", "fresh processes"), ("forkserver", "forkserver workers")):
        plan.say(f"up to {max(plan.growth)} {name}")
        _more_and_more_processes(plan, results, kind, name)


def _so_many_interpreters(plan, results: Results, count: int) -> None:
    def add(metric: str, unit: str, value: float, threads: int = 1) -> None:
        results.add(Key(metric, "multipy", "identity", threads, count, unit), value)

    with multipy(plan) as program:
        before = program.cpu_seconds()
        start = program.ask("pool", "pool", count)
        start += program.ask("torch", "pool")
        add("growth_start_s", "s", start)
        add("growth_start_cores", "cores", (program.cpu_seconds() - before) / start)
        program.ask("load", "pool", "identity", plan.models / "identity.pt", "tensor:1x64")
        add("growth_pss_mb", "MB", program.pss_mb())
        add("growth_mappings", "mappings", program.mappings())
        add("growth_call_ns", "ns", program.ask("call", "pool", "identity", plan.seconds))
        for threads in (1, max(2, count)):
            add("growth_session_ns", "ns", program.ask("session", "pool", threads, plan.seconds), threads)
        add("growth_per_s", "calls/s", program.ask("throughput", "pool/identity", count, plan.seconds), count)


def _more_and_more_processes(plan, results: Results, kind: str, name: str) -> None:
    with rival(plan, "new_processes.py", kind) as side:
        seconds, started = 0.0, 0
        for count in plan.growth:
            while started < count:
                seconds += side.ask("start")
                started += 1
            results.add(Key("growth_start_s", name, "identity", 1, count, "s"), seconds)
            results.add(Key("growth_pss_mb", name, "identity", 1, count, "MB"), side.pss_mb())
