import snappy

data = b"some repeated text " * 100
print(len(snappy.compress(data)), snappy.decompress(snappy.compress(data)) == data)
stream = snappy.StreamCompressor()
print(snappy.StreamDecompressor().decompress(stream.add_chunk(data)) == data)
