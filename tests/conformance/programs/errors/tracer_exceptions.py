"""TorchScript's exceptions and warnings: in `except`, raised, warned with, filtered by, imported."""

import warnings

import torch

try:
    raise ValueError("another one")
except torch.jit.TracingCheckError:
    print("not this one")
except ValueError as error:
    print(error)
try:
    raise torch.jit.TracingCheckError("graphs differ", None)
except torch.jit.TracingCheckError as error:
    print(str(error).splitlines())
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    warnings.warn("traced", torch.jit.TracerWarning)
    warnings.filterwarnings("ignore", category=torch.jit.ScriptWarning)
    warnings.warn("scripted", torch.jit.ScriptWarning)
print([(w.category, str(w.message)) for w in seen])
print(issubclass(torch.jit.TracerWarning, Warning), hasattr(torch.jit, "TracingFault"))
try:
    print(torch.jit.TracingFault)
except AttributeError as error:
    print(error)
