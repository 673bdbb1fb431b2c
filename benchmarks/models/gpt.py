"""A small GPT that generates with a cache of keys and values."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(width)
        self.project_in = nn.Linear(width, 3 * width)
        self.project_out = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor, past: tuple | None) -> tuple[torch.Tensor, tuple]:
        batch, length, width = x.shape
        parts = self.project_in(self.before_attention(x)).view(batch, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        if past is not None:
            key, value = torch.cat((past[0], key), dim=2), torch.cat((past[1], value), dim=2)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=past is None)
        x = x + self.project_out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(x), (key, value)


class SmallGpt(nn.Module):
    """Tokens in (1 x length), the next `new_tokens` most likely ones out."""

    def __init__(self, vocabulary: int, width: int, heads: int, layers: int, positions: int, new_tokens: int) -> None:
        super().__init__()
        self.new_tokens = new_tokens
        self.embed_token = nn.Embedding(vocabulary, width)
        self.embed_position = nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.last = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False))

    def step(self, tokens: torch.Tensor, start: int, past: list) -> tuple[torch.Tensor, list]:
        positions = torch.arange(start, start + tokens.shape[1])
        x = self.embed_token(tokens) + self.embed_position(positions)
        present = []
        for block, cache in zip(self.blocks, past):
            x, cache = block(x, cache)
            present.append(cache)
        return self.last(x[:, -1:]).argmax(-1), present

    def forward(self, prompt: torch.Tensor) -> torch.Tensor:
        token, past = self.step(prompt, 0, [None] * len(self.blocks))
        tokens = [token]
        while len(tokens) < self.new_tokens:
            token, past = self.step(token, prompt.shape[1] + len(tokens) - 1, past)
            tokens.append(token)
        return torch.cat(tokens, dim=1)
