from backports import zstd

data = b"some repeated text " * 1000
packed = zstd.compress(data, level=7)
print(len(packed), zstd.decompress(packed) == data, zstd.get_frame_info(packed).decompressed_size)
