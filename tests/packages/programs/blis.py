import blis.py
import numpy

a, b = numpy.arange(12, dtype="f").reshape(3, 4), numpy.ones((4, 2), "f")
print(blis.py.gemm(a, b), blis.py.gemm(a, a, trans2=True), blis.py.dotv(a[0], a[1]))
