"""Inputs of models: each function returns one that makes forward's arguments, or
one of them, with a torch.Generator."""

import torch

VOCABULARY = 99  # words that the models here know
LENGTH = 11
BATCH = 2
FIRST_WORD = 5  # below are the marks: padding, begin, end


def text(padding="right", length=LENGTH, mask=True, **more):
    """Words; of the second row, three are padding."""

    def make(generator):
        given = {"input_ids": words(BATCH, length)(generator)}
        if mask:
            given["attention_mask"] = torch.ones(BATCH, length, dtype=torch.long)
            hidden = slice(-3, None) if padding == "right" else slice(None, 3)
            given["attention_mask"][1, hidden] = 0
        return {**given, **_made(more, generator)}

    return make


def text_with_parts(places, token, kinds="", **parts):
    """Words, `places` of which stand for the parts of an image or a sound, after a
    first word. Some models want to be told which, by an argument named `kinds`."""

    def make(generator):
        ids = words(BATCH, LENGTH + places)(generator)
        ids[:, 1 : 1 + places] = token
        told = {kinds: (ids == token).long()} if kinds else {}
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), **told, **_made(parts, generator)}

    return make


def image(size=32, **more):
    return numbers("pixel_values", BATCH, 3, size, size, **more)


def numbers(name, *shape, **more):
    """Sound, spectrograms, videos, series."""
    return lambda generator: {name: normal(*shape)(generator), **_made(more, generator)}


def both(*makers):
    return lambda generator: {name: value for make in makers for name, value in make(generator).items()}


def words(*shape):
    return lambda generator: torch.randint(FIRST_WORD, VOCABULARY, shape, generator=generator)


def normal(*shape):
    return lambda generator: torch.randn(*shape, generator=generator)


def ones(*shape):
    return lambda generator: torch.ones(*shape, dtype=torch.long)


def rows(values):
    return lambda generator: torch.tensor(values)


def boxes(*shape):
    """x0 <= x1 and y0 <= y1, out of 1000."""

    def make(generator):
        corners = torch.randint(0, 500, (*shape, 2), generator=generator)
        return torch.cat([corners, corners + torch.randint(0, 500, (*shape, 2), generator=generator)], dim=-1)

    return make


def _made(values, generator):
    return {name: value(generator) if callable(value) else value for name, value in values.items()}
