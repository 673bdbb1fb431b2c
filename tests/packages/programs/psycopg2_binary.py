import psycopg2
from psycopg2 import extensions, extras

print(extensions.adapt("it's"), extensions.adapt([1, None, 2.5]), extras.Json({"a": 1}))
print(extensions.parse_dsn("host=h port=5 dbname=d"), extensions.DATE("2024-01-02", None), extensions.libpq_version() > 0)
try:
    psycopg2.connect(host="127.0.0.1", port=1, connect_timeout=5)
except psycopg2.OperationalError as error:
    print("refused" in str(error))
