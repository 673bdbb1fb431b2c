import catboost
import numpy

random = numpy.random.default_rng(0)
x = random.random((300, 4))
y = x @ [1, 2, 3, 0]
model = catboost.CatBoostRegressor(iterations=20, depth=3, verbose=False, thread_count=2, random_seed=0, allow_writing_files=False)
print(model.fit(x, y).predict(x[:3]).round(5), model.get_feature_importance().round(3))
words = numpy.array([["a", "b", "c"][i % 3] for i in range(300)])[:, None]
print(catboost.CatBoostClassifier(iterations=5, verbose=False, cat_features=[0], allow_writing_files=False, thread_count=1).fit(words, words[:, 0] == "a").score(words, words[:, 0] == "a"))
