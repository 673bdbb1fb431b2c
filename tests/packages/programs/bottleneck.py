import bottleneck
import numpy

values = numpy.arange(20.0)
values[3] = numpy.nan
print(bottleneck.nanmean(values), bottleneck.move_median(values, 5, min_count=1), bottleneck.rankdata([3, 1, 2]))
