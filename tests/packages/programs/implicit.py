import implicit
import numpy
from scipy import sparse

ratings = sparse.random(50, 40, density=0.2, random_state=0, format="csr")
model = implicit.als.AlternatingLeastSquares(factors=8, iterations=3, num_threads=1, random_state=0)
model.fit(ratings, show_progress=False)
print(model.recommend(3, ratings[3], N=3)[0].shape, numpy.isfinite(model.user_factors).all())
