import srsly

data = {"a": [1, 2.5, None], "b": {"c": "ü"}}
print(srsly.json_dumps(data), srsly.msgpack_loads(srsly.msgpack_dumps(data)), srsly.yaml_dumps(data))
