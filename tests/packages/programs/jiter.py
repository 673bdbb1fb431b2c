import jiter

print(jiter.from_json(b'{"a": [1, 2.5, null, "x"]}'), jiter.from_json(b'["a", "b', partial_mode="trailing-strings"))
try:
    jiter.from_json(b"[1, 2")
except ValueError as error:
    print(error)
