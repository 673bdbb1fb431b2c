import io

import pandas

rows = pandas.DataFrame({"key": list("abcab") * 20, "value": range(100), "day": pandas.date_range("2024-01-01", periods=100)})
print(rows.groupby("key").value.agg(["sum", "mean", "max"]))
print(rows.set_index("day").value.resample("MS").sum())
print(pandas.read_csv(io.StringIO(rows.to_csv(index=False))).merge(rows[["value", "key"]], on="value").shape)
print(rows.pivot_table(index="key", values="value", aggfunc="median"))
