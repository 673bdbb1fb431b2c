"""Trains the model on sentences.txt, which takes seconds, and saves it as a torch.package.

    python export.py OUTPUT_FOLDER [SEED]

Another seed makes another model, as good and with other probabilities. The file is put into its place
at once and complete: a service that reloads it never sees half of one.
"""

import json
import os
import pathlib
import sys
import warnings

import torch
from torch import nn
from torch.package import PackageExporter

from language import LanguageGuesser

EXAMPLE = {"text": "What is this sentence about?"}


def read_sentences() -> list[tuple[str, str]]:
    """(language, sentence) of each line."""
    text = pathlib.Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8")
    return [tuple(line.split("\t")) for line in text.splitlines() if line]


def train(seed: int) -> LanguageGuesser:
    torch.manual_seed(seed)
    pairs = read_sentences()
    languages = sorted({language for language, _ in pairs})
    model = LanguageGuesser(languages)
    sentences = [sentence for _, sentence in pairs]
    wanted = torch.tensor([languages.index(language) for language, _ in pairs])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model.scores(sentences), wanted).backward()
        optimizer.step()
    return model.eval()


def save(model: LanguageGuesser, file: pathlib.Path) -> None:
    # torch.package's own use of an old storage type; nothing to do with the model.
    warnings.filterwarnings("ignore", "TypedStorage is deprecated")
    unfinished = file.with_suffix(".unfinished")
    with PackageExporter(unfinished) as package:
        package.intern("language")  # our own module travels inside the package
        package.extern("torch.**")  # torch is the interpreter's own
        package.save_pickle("model", "model.pkl", model)
        package.save_text("model", "example.json", json.dumps(EXAMPLE))  # for the warm-up
    os.replace(unfinished, file)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(f"usage: {sys.argv[0]} OUTPUT_FOLDER [SEED]")
    output = pathlib.Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    save(train(int(sys.argv[2]) if len(sys.argv) == 3 else 0), output / "language.pt")
