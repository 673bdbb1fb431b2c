import cramjam

data = b"some repeated text " * 1000
for codec in (cramjam.snappy, cramjam.gzip, cramjam.lz4, cramjam.brotli, cramjam.zstd, cramjam.bzip2):
    packed = codec.compress(data)
    print(codec.__name__, len(packed), bytes(codec.decompress(packed)) == data)
try:
    cramjam.zstd.decompress(b"nonsense")
except cramjam.DecompressionError as error:
    print(error)
