from Crypto.Cipher import AES, ChaCha20_Poly1305
from Crypto.Hash import SHA3_256
from Crypto.PublicKey import ECC
from Crypto.Signature import eddsa

cipher = AES.new(bytes(16), AES.MODE_GCM, nonce=bytes(12))
print([part.hex() for part in cipher.encrypt_and_digest(b"message")], SHA3_256.new(b"x").hexdigest())
key = ECC.construct(curve="Ed25519", seed=bytes(32))
print(eddsa.new(key, "rfc8032").sign(b"text").hex())
try:
    ChaCha20_Poly1305.new(key=bytes(32), nonce=bytes(12)).decrypt_and_verify(b"xx", bytes(16))
except ValueError as error:
    print(error)
