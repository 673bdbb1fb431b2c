"""docs/models.md: which models were run, and what came of it."""

from architectures import ARCHITECTURES
from architectures.architecture import NEW_TOKENS

_PAGE = """# Models of transformers, in several interpreters at once

Written by `scripts/models --write`; do not edit. transformers {transformers}, torch {torch},
CPython {python}.

Each model is built from its configuration, made small, with weights from a fixed
seed; nothing is downloaded. `forward` runs it on two examples, `backward` takes
the gradients of all parameters, and `generate` chooses {new_tokens} tokens greedily with the
model's cache. Plain Python computes all of it once. Then {interpreters} interpreters of one
process do so at the same time: first side by side in the same order, then each
beginning elsewhere in the list{rounds}. Everything runs on one thread per
interpreter, so that sums are added in the same order.

`equal`: every output, every gradient, every logit that generated and the weights
have the same bits as in plain Python, in each interpreter and round. {equal} of {count}
are equal, in {families} families.

| architecture | class | family | parameters | what ran | result |
|---|---|---|---|---|---|
{rows}
"""


def page(reference: dict, results: dict[str, str], interpreters: int, rounds: int) -> str:
    chosen = sorted((ARCHITECTURES[name] for name in results), key=lambda each: (each.family, each.name))
    return _PAGE.format(
        **reference["versions"],
        new_tokens=NEW_TOKENS,
        interpreters=interpreters,
        rounds="" if rounds == 2 else f" ({rounds} rounds in all)",
        equal=sum(not result for result in results.values()),
        count=len(results),
        families=len({each.family for each in chosen}),
        rows="\n".join(_row(each, reference["models"][each.name], results[each.name]) for each in chosen),
    )


def _row(architecture, reported: dict, result: str) -> str:
    parameters = f"{reported['parameters']:,}" if "parameters" in reported else ""
    ran = "forward, backward" + ("" if architecture.generates_from is None else ", generate")
    cause = " ".join(result.split()).replace("|", "\\|")
    cells = (architecture.name, f"`{architecture.model}`", architecture.family, parameters, ran, cause or "equal")
    return f"| {' | '.join(cells)} |"
