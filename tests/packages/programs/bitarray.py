import bitarray
from bitarray import util

bits = bitarray.bitarray("1100") * 100
bits[3:200:7] = True
print(bits.count(), bits.find(bitarray.bitarray("111")), util.ba2hex(bits)[:20], (~bits & bits).any())
print(util.huffman_code({"a": 5, "b": 2, "c": 1})["a"], util.sc_encode(bits)[:8])
