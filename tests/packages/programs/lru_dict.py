import lru

dropped = []
cache = lru.LRU(3, callback=lambda key, value: dropped.append(key))
for i in range(6):
    cache[i] = str(i)
    cache.get(1)
print(cache.items(), dropped, cache.get_stats())
