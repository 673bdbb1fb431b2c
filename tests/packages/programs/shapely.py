import numpy
import shapely
from shapely import affinity, geometry, ops, wkt

circle = geometry.Point(0, 0).buffer(1)
square = geometry.box(0, 0, 1, 1)
print(round(circle.intersection(square).area, 6), circle.contains(geometry.Point(0.5, 0.5)))
print(ops.unary_union([square, affinity.translate(square, 0.5)]).wkt, wkt.loads("LINESTRING(0 0, 3 4)").length)
tree = shapely.STRtree([geometry.Point(i, i) for i in range(1000)])
print(sorted(tree.query(geometry.box(10, 10, 14, 14))), shapely.area(numpy.array([square, circle])).round(5))
try:
    wkt.loads("NONSENSE")
except shapely.GEOSException as error:
    print(error)
