"""What a row of the tables beside this file says."""

import dataclasses
from collections.abc import Callable

NEW_TOKENS = 8  # that generate() chooses
ALL_INPUTS = ("*",)


@dataclasses.dataclass(frozen=True)
class Architecture:
    name: str  # as in the table of docs/models.md, and what to ask for
    family: str
    model: str  # a class of transformers; its configuration class follows from it
    settings: dict  # of the configuration, which make the model small
    inputs: Callable  # of a torch.Generator: forward's arguments
    # Which of them generate() is given; it chooses greedily, with the model's
    # cache. None: the model does not generate.
    generates_from: tuple[str, ...] | None = None


def table(family: str, *rows: tuple, generates_from: tuple[str, ...] | None = None) -> list[Architecture]:
    """Architectures of one family: (name, model, settings, inputs) each."""
    return [
        Architecture(
            family=family, name=name, model=model, settings=settings, inputs=inputs, generates_from=generates_from
        )
        for name, model, settings, inputs in rows
    ]
