import tempfile

import h5py
import numpy

with tempfile.TemporaryDirectory() as folder:
    for i in range(20):
        with h5py.File(f"{folder}/{i}.h5", "w") as file:
            file.create_dataset("g/data", data=numpy.arange(10000).reshape(100, 100), chunks=(10, 10), compression="gzip")
            file["g"].attrs["name"] = f"file {i}"
            file["text"] = ["ä", "b"]
    with h5py.File(f"{folder}/7.h5") as file:
        print(file["g/data"][5:7, ::30], file["g"].attrs["name"], file["text"].asstr()[:], list(file))
        try:
            file["none"]
        except KeyError as error:
            print(error)
