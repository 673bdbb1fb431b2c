import blake3

print(blake3.blake3(b"data").hexdigest(), blake3.blake3(b"data", key=bytes(32)).hexdigest(length=8))
print(blake3.blake3(bytes(10**6), max_threads=blake3.blake3.AUTO).hexdigest()[:20])
