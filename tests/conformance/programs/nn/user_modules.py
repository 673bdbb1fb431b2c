"""User modules: properties, extra state, __getattr__, deepcopy, pickling, custom parameters."""

import copy
import pickle

import torch
from showing import raised, show
from torch import nn


class Temperature(nn.Parameter):
    pass


class Scorer(nn.Module):
    __constants__ = ["limit"]

    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.temperature = Temperature(torch.tensor(2.0))
        self.history = []

    @property
    def doubled(self):
        return self.temperature * 2

    @property
    def broken(self):
        return self.nowhere

    def get_extra_state(self):
        return {"history": self.history}

    def set_extra_state(self, state):
        self.history = state["history"]

    def extra_repr(self):
        return f"limit={self.limit}"

    def forward(self, x, *, bias=0.0):
        self.history.append(x.sum().item())
        return (x / self.temperature).clamp(max=self.limit) + bias


scorer = Scorer(1.5)
show("forward", scorer(torch.tensor([1.0, 9.0]), bias=0.25))
print(scorer, scorer.state_dict(), type(scorer.temperature).__name__)
other = Scorer(1.5)
other.load_state_dict(scorer.state_dict())
print(other.history)
show("property", scorer.doubled)
raised("broken", lambda: scorer.broken)
twin = pickle.loads(pickle.dumps(scorer))
show("pickled", twin(torch.ones(1)))
print(type(copy.deepcopy(scorer).temperature).__name__, twin.history)
del scorer.temperature
raised("deleted", scorer, torch.ones(1))
