"""Stores: HashStore, FileStore, TCPStore, PrefixStore."""

import datetime
import os
import tempfile

import torch.distributed as dist
from showing import raised

with tempfile.TemporaryDirectory() as folder:
    server = dist.TCPStore("127.0.0.1", 0, 1, True, wait_for_workers=False)
    client = dist.TCPStore("127.0.0.1", server.port, 1, False)
    for store in dist.HashStore(), dist.FileStore(os.path.join(folder, "store"), 1), client:
        store.set("key", "value")
        print(type(store).__name__, store.get("key"), store.add("count", 2), store.add("count", 3))
        print(store.check(["key"]), store.check(["nothing"]), store.compare_set("key", "value", "new"), store.num_keys() > 0)
        prefixed = dist.PrefixStore("p", store)
        prefixed.set("key", "inner")
        print(prefixed.get("key"), store.get("p/key"))
        store.set_timeout(datetime.timedelta(milliseconds=50))
        raised("timeout", store.wait, ["never"])
    print(server.get("key"), client.delete_key("key"))
