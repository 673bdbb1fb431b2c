import ujson

data = {"a": [1, 2.5, None, "ü</script>"], "b": {"c": True}}
print(ujson.dumps(data), ujson.dumps(data, ensure_ascii=False, indent=1), ujson.loads(ujson.dumps(data)) == data)
try:
    ujson.loads("[1, 2")
except ujson.JSONDecodeError as error:
    print(error)
