import numpy
import xgboost

random = numpy.random.default_rng(0)
x = random.random((500, 5))
y = x @ [1, 2, 3, 0, 0] + random.random(500) / 10
seen = []


class Watch(xgboost.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        seen.append(epoch)
        return False


model = xgboost.train({"nthread": 2, "seed": 0, "tree_method": "hist"}, xgboost.DMatrix(x, y), 10, callbacks=[Watch()])
print(model.predict(xgboost.DMatrix(x[:3])).round(4), sorted(model.get_score()), seen)
try:
    xgboost.train({"objective": "nonsense"}, xgboost.DMatrix(x, y), 1)
except xgboost.core.XGBoostError as error:
    print("nonsense" in str(error))
