import io

import polars

frame = polars.DataFrame({"k": ["a", "b", "a"] * 100, "v": range(300)})
print(frame.group_by("k").agg(polars.col("v").sum(), polars.col("v").mean().alias("m")).sort("k"))
lazy = frame.lazy().filter(polars.col("v") % 7 == 0).with_columns(polars.col("v").rolling_mean(3).alias("r"))
print(lazy.collect().tail(3))
print(frame.with_columns(polars.col("v").map_elements(lambda v: v * 2, polars.Int64)).head(2))
sink = io.BytesIO()
frame.write_parquet(sink)
print(polars.read_parquet(io.BytesIO(sink.getvalue())).equals(frame), polars.SQLContext(f=frame).execute("select max(v) m from f").collect())
