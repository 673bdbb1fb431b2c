"""Saves gated_model.py as a package for the service."""

import json

from torch.package import PackageExporter

from gated_model import GatedModel


def save(file, example):
    """`example` is for model/example.json: written as it is if it is a string."""
    with PackageExporter(file) as package:
        package.intern("gated_model")
        package.save_pickle("model", "model.pkl", GatedModel())
        package.save_text("model", "example.json", example if isinstance(example, str) else json.dumps(example))
    return file
