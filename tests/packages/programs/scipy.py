import numpy
from scipy import integrate, linalg, optimize, signal, sparse, spatial, special, stats

print(optimize.minimize(lambda x: ((x - [1, 2]) ** 2).sum(), [0, 0]).x.round(4))
print(round(integrate.quad(lambda x: numpy.exp(-(x**2)), -numpy.inf, numpy.inf)[0], 8))
matrix = sparse.random(200, 200, density=0.05, random_state=0, format="csr") + sparse.eye(200)
print(sparse.linalg.spsolve(matrix.tocsc(), numpy.ones(200)).sum().round(6))
print(special.gamma(4.5).round(8), stats.norm.ppf(0.975).round(8))
print(spatial.cKDTree(numpy.random.default_rng(0).random((500, 3))).query([0.5] * 3, k=3)[1])
print(linalg.expm(numpy.diag([1.0, 2.0])).round(6), signal.butter(3, 0.2)[0].round(6))
