import datetime

import bson
import pymongo

document = {"_id": bson.ObjectId("0123456789abcdef01234567"), "n": 1, "d": [1.5, None, {"x": b"\x00"}], "t": datetime.datetime(2024, 1, 2)}
data = bson.encode(document)
print(data.hex(), bson.decode(data) == document, bson.has_c(), pymongo.has_c())
try:
    bson.decode(data[:-3])
except bson.InvalidBSON as error:
    print(error)
client = pymongo.MongoClient("127.0.0.1", 1, serverSelectionTimeoutMS=200)
try:
    client.admin.command("ping")
except pymongo.errors.ServerSelectionTimeoutError as error:
    print(type(error).__name__)
client.close()
