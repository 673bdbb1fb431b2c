"""Warnings of torch arrive as Python warnings, and as errors where asked for."""

import warnings

import torch
from showing import raised


def caught(function):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function()
    print([(w.category.__name__, str(w.message).split(".")[0]) for w in seen])


always = torch.is_warn_always_enabled()
torch.set_warn_always(True)
try:
    caught(lambda: torch.ones(3, 1, 2).squeeze().T.mT.shape)
    caught(lambda: torch.add(torch.ones(2), torch.ones(2), out=torch.empty(3)))
    caught(lambda: (torch.ones(2, requires_grad=True) * 2).grad)
    caught(lambda: torch.ones(3, 2, 2).T)
    caught(lambda: torch.tensor(torch.ones(2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raised("as an error", lambda: torch.add(torch.ones(2), torch.ones(2), out=torch.empty(3)))
finally:
    torch.set_warn_always(always)
