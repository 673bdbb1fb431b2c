import hf_xet

print(hf_xet.__name__, sorted(name for name in dir(hf_xet) if name.startswith(("PyXet", "download", "upload"))))
try:
    hf_xet.download_files([], "http://127.0.0.1:1", None, None, [])
except Exception as error:
    print(type(error).__name__)
