import numpy
import simsimd

a, b = numpy.random.default_rng(0).random((2, 128), dtype=numpy.float32)
print(round(float(simsimd.cosine(a, b)), 5), round(float(simsimd.sqeuclidean(a, b)), 4), round(float(simsimd.inner(a, b)), 3))
print(numpy.array(simsimd.cdist(a.reshape(4, 32), b.reshape(4, 32), metric="sqeuclidean")).round(3))
