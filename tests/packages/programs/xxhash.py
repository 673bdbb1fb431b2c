import xxhash

print(xxhash.xxh64_hexdigest(b"data", seed=3), xxhash.xxh3_128_hexdigest(b"data"))
state = xxhash.xxh32()
for _ in range(1000):
    state.update(b"data")
print(state.hexdigest(), state.copy().intdigest())
