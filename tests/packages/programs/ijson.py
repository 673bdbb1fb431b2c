import io

import ijson

backend = ijson.get_backend("yajl2_c")
data = b'{"items": [{"a": 1.5}, {"a": null}], "x": "y"}'
print(list(backend.items(io.BytesIO(data), "items.item")), list(backend.parse(io.BytesIO(data)))[:4])
try:
    list(backend.parse(io.BytesIO(b"[1, 2")))
except ijson.IncompleteJSONError as error:
    print(type(error).__name__)
