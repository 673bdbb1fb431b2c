import ml_dtypes
import numpy

print(numpy.array([1.1, 2.2, 300], ml_dtypes.bfloat16) * 3, numpy.arange(4).astype(ml_dtypes.float8_e4m3fn).view("u1"))
print(numpy.array([-3, 5], ml_dtypes.int4) + 1, ml_dtypes.finfo(ml_dtypes.float8_e5m2).max)
