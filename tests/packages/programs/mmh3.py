import mmh3

print(mmh3.hash("text", 5), mmh3.hash128(b"text"), mmh3.hash_bytes("text").hex())
state = mmh3.mmh3_x64_128()
state.update(b"a" * 1000)
print(state.hexdigest() if hasattr(state, "hexdigest") else state.digest().hex())
