import tempfile

import geopandas
import pyogrio
from shapely import geometry

frame = geopandas.GeoDataFrame({"n": range(5)}, geometry=[geometry.Point(i, i) for i in range(5)], crs=4326)
with tempfile.TemporaryDirectory() as folder:
    pyogrio.write_dataframe(frame, f"{folder}/points.gpkg")
    again = pyogrio.read_dataframe(f"{folder}/points.gpkg", where="n > 2")
    print(again, pyogrio.read_info(f"{folder}/points.gpkg")["features"])
print("GPKG" in pyogrio.list_drivers(), pyogrio.__gdal_version__)
