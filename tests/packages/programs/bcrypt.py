import bcrypt

hashed = bcrypt.hashpw(b"password", b"$2b$05$abcdefghijklmnopqrstuu")
print(hashed, bcrypt.checkpw(b"password", hashed), bcrypt.checkpw(b"other", hashed))
print(bcrypt.kdf(b"password", b"salt", 16, 10).hex())
