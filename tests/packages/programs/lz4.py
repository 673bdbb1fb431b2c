import lz4.block
import lz4.frame

data = b"some repeated text " * 1000
packed = lz4.frame.compress(data)
print(len(packed), lz4.frame.decompress(packed) == data, len(lz4.block.compress(data, mode="high_compression")))
try:
    lz4.frame.decompress(b"nonsense")
except RuntimeError as error:
    print(error)
