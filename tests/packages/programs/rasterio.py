import numpy
import rasterio
from rasterio import features, transform, warp
from rasterio.io import MemoryFile

values = numpy.arange(400, dtype="float32").reshape(20, 20)
place = transform.from_origin(2, 49, 0.01, 0.01)
with MemoryFile() as memory:
    with memory.open(driver="GTiff", width=20, height=20, count=1, dtype="float32", crs="EPSG:4326", transform=place) as file:
        file.write(values, 1)
    with memory.open() as file:
        print(file.profile["driver"], file.crs, file.read(1).sum(), list(file.sample([(2.05, 48.95)])))
projected = numpy.zeros((20, 20), "float32")
warp.reproject(values, projected, src_transform=place, src_crs="EPSG:4326", dst_transform=transform.from_origin(222000, 6275000, 2000, 2000), dst_crs="EPSG:3857")
print(int(projected.sum()), len(list(features.shapes((values > 200).astype("uint8")))))
