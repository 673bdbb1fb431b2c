import io

import pyarrow
from pyarrow import compute, csv, dataset, feather, json, parquet

table = pyarrow.table({"k": ["a", "b", "a"] * 100, "v": range(300)})
print(table.group_by("k").aggregate([("v", "sum")]).to_pydict(), compute.mean(table["v"]))
sink = io.BytesIO()
parquet.write_table(table, sink, compression="zstd")
print(parquet.read_table(io.BytesIO(sink.getvalue()), filters=[("v", ">", 297)]).to_pylist())
print(csv.read_csv(io.BytesIO(b"a,b\n1,x\n2,y\n")).schema, json.read_json(io.BytesIO(b'{"a": 1}\n{"a": 2}\n')).num_rows)
print(dataset.dataset(table).to_table(filter=dataset.field("v") < 3).num_rows, table.to_pandas().v.sum())
feathered = io.BytesIO()
feather.write_feather(table, feathered)
print(feather.read_table(io.BytesIO(feathered.getvalue())).equals(table))
