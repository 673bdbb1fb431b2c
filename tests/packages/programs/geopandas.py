import geopandas
from shapely import geometry

areas = geopandas.GeoDataFrame({"a": ["x", "y"]}, geometry=[geometry.box(0, 0, 2, 2), geometry.box(1, 1, 3, 3)], crs=4326)
points = geopandas.GeoDataFrame({"p": range(4)}, geometry=geopandas.points_from_xy([0.5, 1.5, 2.5, 9], [0.5, 1.5, 2.5, 9]), crs=4326)
print(points.sjoin(areas)[["p", "a"]].sort_values(["p", "a"]).to_string())
print(areas.overlay(areas.iloc[:1], how="difference").to_crs(3857).area.round(0).tolist(), areas.dissolve().geometry.iloc[0].wkt)
