import pyarrow
from pyiceberg import schema, types
from pyiceberg.avro import decoder_fast
from pyiceberg.catalog import memory

decoder = decoder_fast.CythonBinaryDecoder(b"\x04\x06abc")
print(decoder.read_int(), decoder.read_utf8())
catalog = memory.InMemoryCatalog("c", warehouse="memory:///")
print(schema.Schema(types.NestedField(1, "n", types.LongType())), catalog.name, pyarrow.table({"n": [1]}).num_rows)
