import duckdb
import pandas

frame = pandas.DataFrame({"k": ["a", "b", "a"] * 100, "v": range(300)})
connection = duckdb.connect()
connection.register("frame", frame)
print(connection.execute("select k, sum(v), median(v) from frame group by k order by k").fetchall())
connection.create_function("twice", lambda x: x * 2, ["BIGINT"], "BIGINT")
print(connection.sql("select twice(21), list_sum([1,2,3]), '2024-01-31'::date + interval 1 month").fetchall())
print(connection.sql("select count(*) from range(1000000) t(i) where i % 7 = 0").df().iloc[0, 0])
try:
    connection.execute("select nothing from nowhere")
except duckdb.CatalogException as error:
    print(type(error).__name__)
connection.close()
