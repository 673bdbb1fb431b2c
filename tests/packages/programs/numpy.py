import numpy

matrix = numpy.random.default_rng(0).standard_normal((60, 60))
print(numpy.linalg.eigvalsh(matrix @ matrix.T).round(6)[:5])
print(numpy.fft.rfft(matrix[0]).round(6)[:4])
records = numpy.array([(3, "c"), (1, "a")], dtype=[("n", "i4"), ("s", "U1")])
print(numpy.sort(records, order="n"))
print(numpy.einsum("ij,jk,kl->il", matrix, matrix, matrix).sum().round(4))
