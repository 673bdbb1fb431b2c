import tempfile

import netCDF4
import numpy

with tempfile.TemporaryDirectory() as folder:
    with netCDF4.Dataset(f"{folder}/f.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 10)
        times = file.createVariable("time", "f8", ("time",))
        times.units = "days since 2024-01-01"
        file.createVariable("v", "f4", ("time", "x"), zlib=True)[0:5] = numpy.arange(50).reshape(5, 10)
        times[:] = range(5)
    with netCDF4.Dataset(f"{folder}/f.nc") as file:
        print(file["v"][:].sum(), netCDF4.num2date(file["time"][:], file["time"].units)[-1], file.dimensions["time"].size)
