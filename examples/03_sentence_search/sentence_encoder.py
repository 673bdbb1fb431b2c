"""Sentences in, unit vectors out.

This module travels inside the package. The tokenizer and BERT are the
interpreter's own (extern); their state, the tokenizer's JSON text and the
weights, is in the pickle, so that a package needs no file beside it.
"""

import torch
from tokenizers import Tokenizer
from torch.nn.utils.rnn import pad_sequence
from transformers import BertModel


class SentenceEncoder(torch.nn.Module):
    """MiniLM: mean of BERT's last hidden states, scaled to length 1."""

    def __init__(self, tokenizer: Tokenizer, bert: BertModel) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.bert = bert

    @torch.no_grad()
    def forward(self, sentences: list[str]) -> torch.Tensor:
        # One by one: encode_batch would start a thread pool in each interpreter,
        # and here the interpreters themselves are what runs in parallel.
        ids = [torch.tensor(self.tokenizer.encode(sentence).ids) for sentence in sentences]
        mask = pad_sequence([torch.ones_like(row) for row in ids], batch_first=True)
        hidden = self.bert(pad_sequence(ids, batch_first=True), attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weights).sum(dim=1) / weights.sum(dim=1)
        return torch.nn.functional.normalize(mean, dim=1)

    def __getstate__(self) -> dict:
        return {**self.__dict__, "tokenizer": self.tokenizer.to_str()}

    def __setstate__(self, state: dict) -> None:
        super().__setstate__({**state, "tokenizer": Tokenizer.from_str(state["tokenizer"])})
