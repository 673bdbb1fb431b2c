import nacl.exceptions
import nacl.pwhash
import nacl.secret
import nacl.signing

box = nacl.secret.SecretBox(bytes(32))
sealed = box.encrypt(b"message", bytes(24))
print(sealed.hex(), box.decrypt(sealed))
signed = nacl.signing.SigningKey(bytes(32)).sign(b"text")
print(signed.signature.hex())
try:
    nacl.signing.SigningKey(bytes(31) + b"1").verify_key.verify(signed)
except nacl.exceptions.BadSignatureError as error:
    print(error)
print(nacl.pwhash.scrypt.kdf(16, b"password", bytes(32), 1024, 2**20).hex())
