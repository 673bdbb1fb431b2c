import tempfile

import numpy
import tables


class Row(tables.IsDescription):
    n = tables.Int32Col()
    name = tables.StringCol(8)


with tempfile.TemporaryDirectory() as folder, tables.open_file(f"{folder}/f.h5", "w") as file:
    table = file.create_table("/", "t", Row, filters=tables.Filters(5, "blosc"))
    for i in range(1000):
        table.row["n"], table.row["name"] = i, f"r{i}"
        table.row.append()
    table.flush()
    table.cols.n.create_index()
    print([row["name"] for row in table.where("(n > 996) | (n == 3)")], file.create_carray("/", "c", obj=numpy.eye(50))[:].sum())
