"""Tells which language a text is in, by the groups of three letters that it has.

This source travels inside the package that export.py makes, and the interpreters run it from there.
What is here beside the network, from the request's document to the answer's, is Python as one would
write it anyway: with one interpreter, all requests would take turns in it.
"""

import zlib

import torch
from torch import nn

BUCKETS = 4096


class BadInput(ValueError):
    """Raised for a request that the model cannot answer: the service makes it status 400."""


def trigrams(text: str) -> torch.Tensor:
    """The numbers of all groups of three letters; hash() would differ from process to process."""
    padded = f" {' '.join(text.lower().split())} "
    groups = (padded[i : i + 3] for i in range(len(padded) - 2))
    return torch.tensor([zlib.crc32(group.encode("utf-8", "replace")) % BUCKETS for group in groups])


class LanguageGuesser(nn.Module):
    def __init__(self, languages: list[str], width: int = 16) -> None:
        super().__init__()
        self.languages = languages
        self.embed = nn.EmbeddingBag(BUCKETS, width, mode="mean")
        nn.init.normal_(self.embed.weight, std=0.01)  # what it was not trained on says next to nothing
        self.classify = nn.Linear(width, len(languages))

    def scores(self, texts: list[str]) -> torch.Tensor:
        groups = [trigrams(text) for text in texts]
        starts = torch.tensor([0] + [len(group) for group in groups[:-1]]).cumsum(0)
        return self.classify(self.embed(torch.cat(groups), starts))

    def forward(self, request) -> dict:
        text = request.get("text") if isinstance(request, dict) else None
        if not isinstance(text, str) or not text.strip():
            raise BadInput('expected {"text": "..."} with some text')
        probabilities = self.scores([text])[0].softmax(0).tolist()
        best = max(range(len(probabilities)), key=probabilities.__getitem__)
        return {
            "language": self.languages[best],
            "probabilities": dict(zip(self.languages, probabilities)),
        }
