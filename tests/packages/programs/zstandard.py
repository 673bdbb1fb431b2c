import zstandard

data = b"some repeated text " * 1000
packed = zstandard.ZstdCompressor(level=9).compress(data)
print(len(packed), zstandard.ZstdDecompressor().decompress(packed) == data, zstandard.backend)
trained = zstandard.train_dictionary(1024, [b"key=%d;value=%d" % (i, i * i) for i in range(2000)])
print(len(zstandard.ZstdCompressor(dict_data=trained).compress(b"key=77;value=5929")) < 30)
print(len(zstandard.ZstdCompressor(threads=2).compress(data * 200)) > 0)
try:
    zstandard.ZstdDecompressor().decompress(b"nonsense")
except zstandard.ZstdError as error:
    print(error)
