import google_crc32c

checksum = google_crc32c.Checksum()
for _ in range(100):
    checksum.update(b"some data")
print(checksum.hexdigest(), google_crc32c.value(b"data"), google_crc32c.implementation)
