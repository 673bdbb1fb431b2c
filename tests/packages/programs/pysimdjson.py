import simdjson

parser = simdjson.Parser()
document = parser.parse(b'{"a": {"b": [1, 2.5, "x"]}}')
print(document["a"]["b"].as_list(), document.at_pointer("/a/b/2"), simdjson.loads("[1, null]"))
del document
try:
    parser.parse(b"{")
except ValueError as error:
    print(error)
