import msgpack

data = {"a": [1, -2.5, None, True], "b": b"\x00\xff", "c": "ü" * 50, "t": msgpack.Timestamp(5, 6)}
packed = msgpack.packb(data)
print(packed.hex(), msgpack.unpackb(packed) == data, msgpack._cmsgpack.__name__)
unpacker = msgpack.Unpacker()
for piece in (packed[:7], packed[7:] + packed):
    unpacker.feed(piece)
print(len(list(unpacker)))
try:
    msgpack.unpackb(b"\xc1")
except msgpack.FormatError as error:
    print(type(error).__name__)
