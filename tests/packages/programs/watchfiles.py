import pathlib
import tempfile
import threading

import watchfiles

with tempfile.TemporaryDirectory() as folder:
    stop = threading.Event()
    watching = watchfiles.watch(folder, stop_event=stop, rust_timeout=100, yield_on_timeout=True, debounce=100)
    next(watching)
    file = pathlib.Path(folder, "file")
    file.write_text("text")
    seen = set()
    while not seen:
        seen = next(watching)
    print({(change.name, pathlib.Path(path).name) for change, path in seen if change.name == "added"})
    stop.set()
