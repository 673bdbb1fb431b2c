import crc32c

print(crc32c.crc32c(b"data"), crc32c.crc32c(b"more", crc32c.crc32c(b"data")), crc32c.CRC32CHash(b"data").hexdigest())
