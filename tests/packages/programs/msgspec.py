import msgspec


class User(msgspec.Struct):
    name: str
    groups: set[str] = set()
    age: int | None = None


print(msgspec.json.decode(b'{"name": "x", "groups": ["a"]}', type=User), msgspec.msgpack.encode(User("y", age=3)).hex())
print(msgspec.json.schema(User), msgspec.yaml.encode({"a": 1}))
try:
    msgspec.json.decode(b'{"name": 5}', type=User)
except msgspec.ValidationError as error:
    print(error)
