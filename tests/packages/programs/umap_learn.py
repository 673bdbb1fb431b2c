import numpy
import umap

data = numpy.random.default_rng(0).random((60, 5))
data[30:] += 5
embedded = umap.UMAP(n_neighbors=5, random_state=0, n_epochs=20, n_jobs=1).fit_transform(data)
print(embedded.shape, numpy.isfinite(embedded).all())
