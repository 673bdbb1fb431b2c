import contourpy
import numpy

x, y = numpy.meshgrid(numpy.linspace(-1, 1, 20), numpy.linspace(-1, 1, 20))
for name in ("serial", "threaded", "mpl2014"):
    lines = contourpy.contour_generator(x, y, x**2 + y**2, name=name).lines(0.5)
    print(name, len(lines), numpy.asarray(lines[0]).shape)
