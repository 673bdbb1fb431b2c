import tempfile

import fastparquet
import pandas

frame = pandas.DataFrame({"k": ["a", "b"] * 50, "v": range(100), "f": [i / 3 for i in range(100)]})
with tempfile.TemporaryDirectory() as folder:
    fastparquet.write(f"{folder}/f.parquet", frame, compression="ZSTD", row_group_offsets=30)
    file = fastparquet.ParquetFile(f"{folder}/f.parquet")
    print(len(file.row_groups), file.to_pandas(["v"], filters=[("v", ">", 90)]).v.sum(), file.to_pandas().f.sum())
