"""Open loads: how long requests take that arrive when they arrive."""

from processes import multipy
from results import Key, Results

LOADS = (50, 80, 95)  # percent of the strategy's own capacity
GOAL = 80  # its metrics have no suffix
BURST = 16
PARTS = ("p50", "p95", "p99", "p999")
PHASES = ("queueing", "compute", "latency")


def metric(phase: str, part: str, load: int) -> str:
    """latency_p99_us is at 80 % load; latency_p99_us_at_50 says its load."""
    return f"{phase}_{part}_us" + ("" if load == GOAL else f"_at_{load}")


def same_traffic(part: str) -> str:
    """With as many requests a second as are 80 % of what the best worker processes can do."""
    return f"latency_{part}_us_same_traffic"


def measure(plan, results: Results, strategies) -> None:
    """A repeat takes the capacity of all strategies first, and then the loads as parts of
    it: of each one's own, and of the best worker processes', which all are then given."""
    for repeat in range(plan.repeats):
        for model in plan.latency_models:
            running = [strategy for strategy in strategies if model in strategy.runs]
            plan.say(f"latency, repeat {repeat + 1} of {plan.repeats}: {model}")
            capacity = {strategy.name: _capacity(plan, results, strategy, model) for strategy in running}
            workers = max(capacity[strategy.name] for strategy in running if strategy.processes)
            for strategy in running:
                _one(plan, results, strategy, model, repeat, capacity[strategy.name], workers)
    for model in plan.latency_models:
        for strategy in strategies[1:]:
            if model in strategy.runs:
                _compare(plan, results, strategies[0], strategy, model)


def _key(name: str, strategy, model: str, n: int, unit: str = "us") -> Key:
    return Key(name, strategy.name, model, strategy.clients(n), strategy.used(n), unit)


def _capacity(plan, results: Results, strategy, model: str) -> float:
    n = plan.interpreters
    strategy.use(n)
    capacity = strategy.throughput(model, strategy.clients(n), plan.open_seconds)
    results.add(_key("capacity_per_s", strategy, model, n, "calls/s"), capacity)
    return capacity


def _one(plan, results: Results, strategy, model: str, repeat: int, capacity: float, workers: float) -> None:
    n = plan.interpreters
    clients = strategy.clients(n)
    strategy.use(n)
    for load in LOADS:
        answer = strategy.open(model, clients, capacity * load / 100, plan.open_seconds, 1, 100 * repeat + load)
        for i, phase in enumerate(PHASES):
            for j, part in enumerate(PARTS):
                results.add(_key(metric(phase, part, load), strategy, model, n), answer[4 * i + j])
    answer = strategy.open(model, clients, workers * GOAL / 100, plan.open_seconds, 1, 100 * repeat)
    for j, part in enumerate(PARTS):
        results.add(_key(same_traffic(part), strategy, model, n), answer[8 + j])
    answer = strategy.open(model, clients, capacity / 2, plan.open_seconds, BURST, 100 * repeat)
    for j, part in enumerate(PARTS):
        results.add(_key(f"burst_latency_{part}_us", strategy, model, n), answer[8 + j])


def _compare(plan, results: Results, ours, theirs, model: str) -> None:
    n = plan.interpreters
    for ratio, of in (("latency_p99_ratio", metric("latency", "p99", GOAL)),
                      ("latency_p99_same_traffic_ratio", same_traffic("p99"))):  # fmt: skip
        key = Key(ratio, f"multipy / {theirs.name}", model, n, n, "x")
        results.derive(key, _key(of, ours, model, n), _key(of, theirs, model, n), lambda a, b: a / b)


def mix(plan, results: Results) -> None:
    """A cheap and an expensive model, costs 100:1, each at a quarter of what N interpreters can
    do: both in one pool, and the cheap one in a pool of its own beside the expensive one's."""
    n = max(2, plan.interpreters)
    seconds = 3 * plan.open_seconds  # else the expensive ones are too few
    with multipy(plan) as program:
        for pool in ("shared", "own"):
            program.ask("pool", pool, n)
            for model in ("cheap", "expensive"):
                program.ask("load", pool, model, plan.models / f"{model}.pt", "tensor:1x64")
        arrangements = {
            "multipy, one pool": ("shared", n),
            "multipy, one pool, the expensive on one thread less": ("shared", n - 1),
            "multipy, a pool for each": ("own", n),
        }
        for repeat in range(plan.repeats):
            plan.say(f"two models, repeat {repeat + 1} of {plan.repeats}")
            rates = {}
            for model in ("cheap", "expensive"):
                rates[model] = n / 4 * program.ask("throughput", f"shared/{model}", 1, plan.seconds)
            results.add(Key("mix_cost_ratio", "multipy", "expensive / cheap", 1, 1, "x"), rates["cheap"] / rates["expensive"])
            for name, (cheap_in, expensive_threads) in arrangements.items():
                cheap = (f"{cheap_in}/cheap", n, rates["cheap"])
                expensive = ("shared/expensive", expensive_threads, rates["expensive"])
                answer = program.ask_for_many("mix", *cheap, *expensive, seconds, repeat)
                for i, model in enumerate(("cheap", "expensive")):
                    for j, part in enumerate(PARTS):
                        results.add(Key(f"mix_{part}_us", name, model, n, n, "us"), answer[4 * i + j])
    private = Key("mix_p99_us", "multipy, a pool for each", "cheap", n, n, "us")
    for name in list(arrangements)[:2]:
        results.derive(
            Key("mix_p99_ratio", name, "cheap", n, n, "x of a pool of its own"),
            Key("mix_p99_us", name, "cheap", n, n, "us"),
            private,
            lambda a, b: a / b,
        )
