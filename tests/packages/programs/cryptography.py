from cryptography import x509
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

key = rsa.generate_private_key(65537, 2048)
signature = key.sign(b"text", padding.PKCS1v15(), hashes.SHA256())
print(key.public_key().verify(signature, b"text", padding.PKCS1v15(), hashes.SHA256()), len(signature))
print(ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32)).sign(b"text").hex())
shared = ec.generate_private_key(ec.SECP256R1())
print(len(shared.exchange(ec.ECDH(), ec.generate_private_key(ec.SECP256R1()).public_key())))
print(AESGCM(bytes(16)).encrypt(bytes(12), b"secret", b"more").hex())
print(Scrypt(salt=b"salt", length=16, n=1024, r=8, p=1).derive(b"password").hex())
fernet = Fernet(Fernet.generate_key())
print(fernet.decrypt(fernet.encrypt(b"message")))
name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
print(x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256()).is_signature_valid)
try:
    serialization.load_pem_private_key(b"nonsense", None)
except ValueError as error:
    print(type(error).__name__)
