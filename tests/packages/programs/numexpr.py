import numexpr
import numpy

a, b = numpy.arange(1e6), numpy.arange(1e6)[::-1].copy()
print(numexpr.evaluate("2*a + 3*b > 2.5e6").sum(), numexpr.evaluate("sum(sqrt(a*b))").round(2), numexpr.get_num_threads() > 0)
try:
    numexpr.evaluate("a +")
except SyntaxError as error:
    print(error.msg)
