"""The benchmark's own models: each travels in a torch.package, its source with it.

(resnet18 comes from examples/02_package, MiniLM from examples/03_sentence_search.)
"""
