import io

import matplotlib

matplotlib.use("agg")
import numpy
from matplotlib import pyplot

figure, (left, right) = pyplot.subplots(1, 2)
left.plot(numpy.sin(numpy.linspace(0, 6, 100)), label=r"$\sin x$")
left.legend()
left.set_title("title")
right.contourf(*numpy.mgrid[0:5, 0:5], numpy.arange(25).reshape(5, 5))
right.imshow(numpy.eye(5))
figure.canvas.draw()
print(numpy.asarray(figure.canvas.buffer_rgba()).astype(int).sum())
out = io.BytesIO()
figure.savefig(out, format="pdf", metadata={"CreationDate": None})
print(out.getvalue()[:5], len(out.getvalue()))
