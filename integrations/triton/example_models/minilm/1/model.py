"""Sentences in, unit vectors out: MiniLM, out of the torch.package that scripts/demo makes."""

import pathlib

import torch
import triton_python_backend_utils as pb_utils
from torch.package import PackageImporter


class TritonPythonModel:
    def initialize(self, args):
        torch.set_num_threads(1)  # the instances are what runs in parallel
        package = pathlib.Path(pb_utils.get_model_dir()) / "sentence_encoder.pt"
        self.encoder = PackageImporter(str(package)).load_pickle("model", "model.pkl")

    def execute(self, requests):
        texts = [
            [text.decode("utf-8") for text in request.inputs()[0].as_numpy().ravel()]
            for request in requests
        ]
        vectors = self.encoder(sum(texts, [])).numpy()
        responses, begin = [], 0
        for each in texts:
            end = begin + len(each)
            output = pb_utils.Tensor("VECTOR", vectors[begin:end])
            responses.append(pb_utils.InferenceResponse([output]))
            begin = end
        return responses
