import numpy
import osqp
from scipy import sparse

problem = osqp.OSQP()
problem.setup(sparse.csc_matrix([[4.0, 1], [1, 2]]), numpy.array([1.0, 1]), sparse.csc_matrix([[1.0, 1], [1, 0], [0, 1]]), numpy.array([1.0, 0, 0]), numpy.array([1, 0.7, 0.7]), verbose=False)
print(problem.solve().x.round(3))
