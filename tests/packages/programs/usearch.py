import numpy
from usearch.index import Index, search

data = numpy.random.default_rng(0).random((500, 16), dtype="float32")
index = Index(ndim=16, metric="l2sq", dtype="f32")
index.add(numpy.arange(500), data, threads=2)
print(index.search(data[7], 1).keys, len(index), 499 in index, search(data, data[3], 1, "l2sq", exact=True).keys)
