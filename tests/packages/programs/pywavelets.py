import numpy
import pywt

coefficients = pywt.wavedec(numpy.sin(numpy.arange(64) / 5), "db4", level=3)
print([c.sum().round(6) for c in coefficients], pywt.waverec(coefficients, "db4").sum().round(6))
print(numpy.abs(pywt.cwt(numpy.arange(32.0), [2, 4], "mexh")[0]).sum().round(6), len(pywt.wavelist()))
