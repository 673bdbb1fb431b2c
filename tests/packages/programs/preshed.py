from preshed.bloom import BloomFilter
from preshed.counter import PreshCounter
from preshed.maps import PreshMap

table = PreshMap()
for i in range(1, 5000):
    table[i * 7] = i
counter = PreshCounter()
for i in range(100):
    counter.inc(i % 7 + 1, 1)
bloom = BloomFilter(size=1024, hash_funcs=3)
bloom.add(5)
print(len(table), table[70], counter[3], 5 in bloom)
