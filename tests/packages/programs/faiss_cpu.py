import faiss
import numpy

data = numpy.random.default_rng(0).random((2000, 16), dtype="float32")
for kind in ("Flat", "IVF16,Flat", "HNSW8", "PQ4"):
    index = faiss.index_factory(16, kind)
    index.train(data)
    index.add(data)
    print(kind, index.search(data[:3], 1)[1].ravel() if kind != "PQ4" else index.ntotal)
print(faiss.kmin(data[:2], 2)[0].round(5), faiss.deserialize_index(faiss.serialize_index(index)).ntotal)
