"""The models, and which strategy can run which."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    file: str
    input: str  # as program/input.h says; "{corpus}" is the file of sentences
    scripted: bool = False  # there is a TorchScript of it
    why_not: str = ""  # why TorchScript and AOTInductor cannot run it
    slow: bool = False  # milliseconds a call: measured for longer


MODELS = (
    Model("identity", "identity.pt", "tensor:1x64", scripted=True),
    Model("linear", "linear.pt", "tensor:1x64", scripted=True),
    Model("mlp8", "mlp8.pt", "tensor:1x64", scripted=True),
    Model("tree", "tree.pt", "tensor:1x64", why_not="recursive, and branches on a tensor's value"),
    Model("resnet18", "resnet18.pt", "tensor:1x3x224x224", scripted=True, slow=True),
    Model(
        "minilm",
        "sentence_encoder.pt",
        "sentences:{corpus}",
        why_not="the tokenizer is a Python extension",
        slow=True,
    ),
    Model("bert", "bert.pt", "tokens:1x16", scripted=True, slow=True),
    Model("gpt", "gpt.pt", "tokens:1x16", why_not="the loop over the cache is Python", slow=True),
    Model("pipeline", "pipeline.pt", "sentences:{corpus}", why_not="tokenizer and numpy are Python extensions"),
    Model("primes", "primes.pt", "int:2000", why_not="no tensor in it"),
    Model("large", "large.pt", "tensor:4096x1024", scripted=True),
)
NAMED = {model.name: model for model in MODELS}
