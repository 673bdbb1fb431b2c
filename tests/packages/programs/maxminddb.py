import maxminddb
import tempfile

print(maxminddb.extension.Reader is not None if hasattr(maxminddb, "extension") else None)
with tempfile.NamedTemporaryFile(suffix=".mmdb") as file:
    file.write(b"nonsense" * 100)
    file.flush()
    try:
        maxminddb.open_database(file.name, maxminddb.MODE_MMAP_EXT)
    except maxminddb.InvalidDatabaseError as error:
        print(type(error).__name__)
