import hiredis
import redis
from redis import utils

reader = hiredis.Reader(encoding="utf-8")
reader.feed(b"*3\r\n$3\r\nabc\r\n:5\r\n-ERR no")
print(reader.gets())
reader.feed(b" way\r\n")
print(reader.gets(), hiredis.pack_command(("SET", "k", 5)), utils.HIREDIS_AVAILABLE)
print(redis.Connection(port=1).pack_command("GET", "key"))
