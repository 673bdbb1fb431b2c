import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

weight = numpy_helper.from_array(numpy.arange(6, dtype="float32").reshape(3, 2), "w")
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Softmax", ["y"], ["z"])],
    "g",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
    [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
    [weight],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 2
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
print(session.run(None, {"x": numpy.ones((2, 3), "float32") / 10})[0].round(6), session.get_inputs()[0].shape)
try:
    session.run(None, {"x": numpy.ones((2, 4), "float32")})
except Exception as error:
    print(type(error).__name__)
