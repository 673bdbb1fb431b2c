import numpy
import onnx
from onnx import checker, helper, numpy_helper, reference, shape_inference

weight = numpy_helper.from_array(numpy.arange(6, dtype="float32").reshape(3, 2), "w")
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])],
    "g",
    [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 3])],
    [helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, ["n", 2])],
    [weight],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
print(shape_inference.infer_shapes(model).graph.value_info[0].type.tensor_type.shape.dim[1].dim_value, checker.check_model(model))
print(reference.ReferenceEvaluator(model).run(None, {"x": numpy.ones((1, 3), "float32")}))
try:
    checker.check_model(onnx.ModelProto())
except checker.ValidationError as error:
    print(error)
