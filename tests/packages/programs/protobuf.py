from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, struct_pb2, timestamp_pb2
from google.protobuf.internal import api_implementation

file = descriptor_pb2.FileDescriptorProto(name="t.proto", package="t", syntax="proto3")
message = file.message_type.add(name="M")
message.field.add(name="n", number=1, type="TYPE_INT32", label="LABEL_OPTIONAL")
message.field.add(name="s", number=2, type="TYPE_STRING", label="LABEL_REPEATED")
pool = descriptor_pool.DescriptorPool()
pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
M = message_factory.GetMessageClass(pool.FindMessageTypeByName("t.M"))
data = M(n=5, s=["x", "y"]).SerializeToString()
print(api_implementation.Type(), data, M.FromString(data))
struct = struct_pb2.Struct()
struct.update({"a": [1, "b", None], "c": {"d": True}})
print(sorted(json_format.MessageToDict(struct).items()), timestamp_pb2.Timestamp(seconds=1).ToJsonString())
try:
    M.FromString(b"\xff")
except Exception as error:
    print(type(error).__name__)
