import argon2
from argon2 import low_level

print(low_level.hash_secret(b"password", b"somesalt", 2, 1024, 2, 16, low_level.Type.ID))
hasher = argon2.PasswordHasher(1, 1024, 1)
try:
    hasher.verify(hasher.hash("right"), "wrong")
except argon2.exceptions.VerifyMismatchError as error:
    print(error)
