"""What surrounds a model in a service: text to tokens before it, numpy after it."""

import numpy
import torch
from tokenizers import Tokenizer
from torch import nn


class Classifier(nn.Module):
    """Sentences in; for each the best labels with their probabilities, as text."""

    def __init__(self, tokenizer: Tokenizer, labels: list[str], width: int, best: int) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.labels = labels
        self.best = best
        self.embed = nn.EmbeddingBag(tokenizer.get_vocab_size(), width)
        self.classify = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, len(labels)))

    def forward(self, sentences: list[str]) -> list[str]:
        answers = []
        for sentence in sentences:
            cleaned = " ".join(sentence.lower().split())
            ids = torch.tensor([self.tokenizer.encode(cleaned).ids])
            scores = self.classify(self.embed(ids))[0].numpy()
            weights = numpy.exp(scores - scores.max())
            chances = weights / weights.sum()
            order = numpy.argsort(-chances)[: self.best]
            answers.append(", ".join(f"{self.labels[i]} {chances[i]:.3f}" for i in order))
        return answers

    def __getstate__(self) -> dict:
        return {**self.__dict__, "tokenizer": self.tokenizer.to_str()}

    def __setstate__(self, state: dict) -> None:
        super().__setstate__({**state, "tokenizer": Tokenizer.from_str(state["tokenizer"])})
