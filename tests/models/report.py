"""Runs models of transformers and reports what came out, to be compared.

    report(["bert", "llama"]) -> str (JSON)

For each architecture: the parameters, every output of forward, the gradients
and what generate() chose, each tensor as a digest of its bytes and a few values.
Two runs that computed the same say the same, wherever they ran.
"""

import argparse
import copy
import fractions
import hashlib
import json
import os
import platform
import traceback

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # models are built from configurations: never ask the network

import torch
import transformers

from architectures import ARCHITECTURES
from architectures.architecture import ALL_INPUTS, NEW_TOKENS

SAMPLES = 16


def report(arguments: list[str]) -> str:
    options = _parse(arguments)
    torch.set_num_threads(1)  # sums are added in the same order everywhere
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    # First all interpreters go through the list side by side, then each begins elsewhere.
    begin = int(options.round * options.interpreter * len(options.names)) % len(options.names)
    names = options.names[begin:] + options.names[:begin]
    return json.dumps(
        {
            "versions": _versions(),
            "models": {name: _attempt(ARCHITECTURES[name]) for name in names},
        }
    )


def _versions() -> dict:
    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
    }


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="report", exit_on_error=False)
    parser.add_argument("--round", type=int, default=0)
    parser.add_argument("--interpreter", type=fractions.Fraction, default=0, metavar="K/N", help="the K-th of N")
    parser.add_argument("names", nargs="+")
    return parser.parse_args(arguments)


def _attempt(architecture) -> dict:
    try:
        return _run(architecture)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return {"error": f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"}


def _run(architecture) -> dict:
    # The default generator is this interpreter's own: what others draw changes nothing.
    random = torch.manual_seed(_seed(architecture.name))
    model = build(architecture)
    inputs = architecture.inputs(random)
    outputs = _tensors(model(**inputs))
    result = {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "weights": _digest(model.state_dict().values()),
        "outputs": {name: describe(tensor) for name, tensor in outputs.items()},
        "gradients": _gradients(model, outputs),
    }
    if architecture.generates_from is not None:
        names = inputs if architecture.generates_from == ALL_INPUTS else architecture.generates_from
        result["generated"] = _generate(model, {name: inputs[name] for name in names})
    return result


def _seed(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")


def build(architecture):
    model = getattr(transformers, architecture.model)
    config = model.config_class(**copy.deepcopy(architecture.settings))  # which may edit them
    for part in _parts(config):
        # So small a model with the usual 0.02 answers nearly the same to everything.
        for name in ("initializer_range", "init_std"):
            if hasattr(part, name):
                setattr(part, name, 0.1)
    built = model(config).eval()
    for buffer in built.buffers():
        # The codebooks of audio codecs come from training, and are zero before.
        if buffer.dim() > 1 and buffer.is_floating_point() and not buffer.any():
            buffer.normal_()
    return built


def _parts(config):
    yield config
    for value in vars(config).values():
        if isinstance(value, transformers.PretrainedConfig):
            yield from _parts(value)


def _tensors(value, name="") -> dict:
    """All tensors of nested outputs by where they stand; caches are generate()'s."""
    if isinstance(value, torch.Tensor):
        return {name: value}
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, (list, tuple)):
        children = enumerate(value)
    else:
        return {}
    found = {}
    for key, child in children:
        found |= _tensors(child, f"{name}.{key}" if name else str(key))
    return found


def describe(tensor: torch.Tensor) -> dict:
    tensor = tensor.detach()
    flat = tensor.flatten()
    chosen = flat[torch.linspace(0, max(flat.numel() - 1, 0), min(SAMPLES, flat.numel())).long()]
    return {
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype),
        "digest": _digest([tensor]),
        "finite": bool(torch.isfinite(tensor).all()),
        "distinct": len(torch.unique(flat)),
        "samples": chosen.tolist(),
    }


def _digest(tensors) -> str:
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(tensor.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _gradients(model, outputs: dict) -> dict:
    """Of the sum of the outputs' squares, by every parameter that has a part in them."""
    floating = [tensor for tensor in outputs.values() if tensor.requires_grad]
    sum((tensor.square().mean() for tensor in floating), start=torch.zeros(())).backward()
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    return {
        "count": len(gradients),
        "digest": _digest(gradients),
        "finite": all(bool(torch.isfinite(gradient).all()) for gradient in gradients),
    }


def _generate(model, inputs: dict) -> dict:
    """Greedily, with the cache: the tokens, and the logits that chose them."""
    config = model.generation_config
    config.eos_token_id = None  # go on to the end
    config.pad_token_id = 0
    inputs |= {"do_sample": False, "num_beams": 1, "use_cache": True, "max_new_tokens": NEW_TOKENS}
    made = model.generate(**inputs, return_dict_in_generate=True, output_logits=True)
    return {"tokens": made.sequences[:, -NEW_TOKENS:].tolist(), "logits": describe(torch.stack(made.logits))}
