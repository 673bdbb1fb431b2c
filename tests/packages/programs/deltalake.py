import tempfile

import deltalake
import pyarrow

with tempfile.TemporaryDirectory() as folder:
    for begin in (0, 10):
        deltalake.write_deltalake(folder, pyarrow.table({"n": range(begin, begin + 10)}), mode="append")
    table = deltalake.DeltaTable(folder)
    print(table.version(), sum(table.to_pyarrow_table()["n"].to_pylist()), table.delete("n < 5")["num_deleted_rows"])
    try:
        deltalake.DeltaTable(f"{folder}/none")
    except Exception as error:
        print(type(error).__name__)
