import brotli

data = b"some repeated text " * 1000
packed = brotli.compress(data, quality=5)
print(packed.hex(), brotli.decompress(packed) == data)
try:
    brotli.decompress(b"\xff\xff")
except brotli.error as error:
    print(error)
