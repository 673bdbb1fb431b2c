"""Saves the benchmark's models: each as a torch.package, those that can be also as
TorchScript and as a package of AOTInductor. driver/models.py lists them.

    python export.py OUTPUT_FOLDER MEGABYTES_OF_THE_HEAVY_ONE AOTINDUCTOR_MODEL...
"""

import importlib.util
import pathlib
import sys
import warnings

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.trainers import WordLevelTrainer
from torch.package import PackageExporter

from models import encoder, gpt, pipeline, primes, small, tree

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
VOCABULARY = 256  # of the GPT: its tokens are bytes


def from_example(folder: str, module: str):
    """A module of an example, under its own name: the package will hold its source."""
    specification = importlib.util.spec_from_file_location(module, EXAMPLES / folder / f"{module}.py")
    loaded = importlib.util.module_from_spec(specification)
    sys.modules[module] = loaded
    specification.loader.exec_module(loaded)
    return loaded


def classifier() -> torch.nn.Module:
    tokenizer = Tokenizer(WordLevel(unk_token="[unknown]"))
    tokenizer.pre_tokenizer = Whitespace()
    corpus = str(EXAMPLES / "03_sentence_search" / "corpus.txt")
    tokenizer.train([corpus], WordLevelTrainer(special_tokens=["[unknown]"]))
    return pipeline.Classifier(tokenizer, [f"label {i}" for i in range(20)], width=64, best=3)


def save(model, path: pathlib.Path) -> None:
    """A module, or anything that can be called."""
    with PackageExporter(path) as package:
        package.intern(["models.**", "resnet"])
        package.extern(["torch.**", "numpy.**", "tokenizers.**", "transformers.**"])
        package.save_pickle("model", "model.pkl", model)


def save_script(model: torch.nn.Module, example: torch.Tensor, path: pathlib.Path) -> None:
    torch.jit.freeze(torch.jit.trace(model, example)).save(path)


def save_aot(model: torch.nn.Module, example: torch.Tensor, path: pathlib.Path) -> None:
    program = torch.export.export(model, (example,))
    torch._inductor.aoti_compile_and_package(program, package_path=str(path))


def main(folder: pathlib.Path, heavy_megabytes: int, aot: list[str]) -> None:
    # torch.package's own use of an old storage type; nothing to do with the models.
    warnings.filterwarnings("ignore", "TypedStorage is deprecated")
    warnings.filterwarnings("ignore", ".*torch.jit.* is deprecated")
    torch.manual_seed(0)
    resnet = from_example("02_package", "resnet")
    from_example("03_sentence_search", "sentence_encoder")
    search = from_example("03_sentence_search", "export")
    sentences = search.load_encoder(search.get_model_path())
    search.export(sentences, folder / "sentence_encoder.pt")
    row, image, tokens = torch.rand(1, 64), torch.rand(1, 3, 224, 224), torch.randint(VOCABULARY, (1, 16))
    scripted = {
        "identity": (torch.nn.Identity(), row),
        "linear": (small.linear(), row),
        "mlp8": (small.deep_mlp(), row),
        "resnet18": (resnet.ResNet18(), image),
        "bert": (encoder.Encoder(sentences.bert), tokens),
        "large": (small.RowSums(), torch.rand(4096, 1024)),
    }
    others = {
        "tree": tree.Node(width=64, depth=7),
        "gpt": gpt.SmallGpt(VOCABULARY, width=128, heads=4, layers=3, positions=64, new_tokens=16),
        "pipeline": classifier(),
        "heavy": small.Heavy(heavy_megabytes),
        "cheap": small.Spin(50),
        "expensive": small.Spin(5000),
    }
    for name, model in {**{name: pair[0] for name, pair in scripted.items()}, **others}.items():
        save(model.eval().requires_grad_(False), folder / f"{name}.pt")
    save(primes.count_primes, folder / "primes.pt")
    for name in ("linear", "mlp8", "bert"):
        save(small.Compiled(scripted[name][0]), folder / f"{name}_compiled.pt")
    save(small.with_norms_folded(scripted["resnet18"][0]), folder / "resnet18_folded.pt")
    with torch.no_grad():
        for name, (model, example) in scripted.items():
            save_script(model, example, folder / f"{name}.torchscript")
        for name in aot:
            save_aot(*scripted[name], folder / f"{name}.pt2")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
