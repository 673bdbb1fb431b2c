import pyproj

print(pyproj.Transformer.from_crs(4326, 3857).transform(48.85, 2.35))
print([round(x, 4) for x in pyproj.Geod(ellps="WGS84").inv(2.35, 48.85, 13.4, 52.52)], pyproj.CRS(32633).name)
try:
    pyproj.CRS("nonsense")
except pyproj.exceptions.CRSError as error:
    print(type(error).__name__)
