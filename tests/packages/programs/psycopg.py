import datetime

import psycopg
from psycopg import adapt, pq, sql
from psycopg.types.json import Jsonb

print(pq.__impl__, pq.Conninfo.parse(b"host=h port=5")[0].keyword)
transformer = adapt.Transformer()
for value in (5, "text", 2.5, datetime.date(2024, 1, 2), Jsonb({"a": [1]}), [1, 2]):
    for format in (adapt.PyFormat.TEXT, adapt.PyFormat.BINARY):
        print(bytes(transformer.get_dumper(value, format).dump(value)))
print(transformer.get_loader(23, pq.Format.BINARY).load(b"\x00\x00\x00\x07"))
print(sql.SQL("select {} from {}").format(sql.Literal("it's"), sql.Identifier("t")).as_string(None))
try:
    psycopg.connect("host=127.0.0.1 port=1 connect_timeout=5")
except psycopg.OperationalError as error:
    print("refused" in str(error))
