import hdbscan
import numpy

data = numpy.random.default_rng(0).random((90, 2))
data[30:60] += 5
data[60:] += 10
clusterer = hdbscan.HDBSCAN(min_cluster_size=10, prediction_data=True).fit(data)
print(numpy.bincount(clusterer.labels_ + 1), hdbscan.approximate_predict(clusterer, [[0.5, 0.5]])[0] == clusterer.labels_[0])
