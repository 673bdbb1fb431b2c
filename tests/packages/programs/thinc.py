import numpy
from thinc import api

api.fix_random_seed(0)
model = api.chain(api.Relu(8), api.Softmax(3))
x, y = numpy.random.default_rng(0).random((50, 4), dtype="f"), numpy.eye(3, dtype="f")[numpy.arange(50) % 3]
model.initialize(x[:5], y[:5])
optimizer = api.Adam(0.01)
for _ in range(10):
    predicted, back = model.begin_update(x)
    back((predicted - y) / 50)
    model.finish_update(optimizer)
print(model.predict(x[:2]).round(4), api.get_current_ops().name, len(model.to_bytes()))
