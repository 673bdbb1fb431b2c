import lightgbm
import numpy

random = numpy.random.default_rng(0)
x = random.random((500, 5))
y = x @ [1, 2, 3, 0, 0] + random.random(500) / 10
model = lightgbm.train({"verbose": -1, "num_threads": 1, "deterministic": True, "seed": 0}, lightgbm.Dataset(x, y), 20)
print(model.predict(x[:3]).round(6), model.feature_importance(), len(model.model_to_string()) > 1000)
print(lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=2).fit(x, y > 3).score(x, y > 3) > 0.8)
