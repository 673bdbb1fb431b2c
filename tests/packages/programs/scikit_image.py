import numpy
from skimage import color, data, feature, filters, measure, morphology, segmentation, transform

image = numpy.zeros((100, 100))
image[20:40, 20:60] = 1
image[60:90, 50:80] = 0.6
print(measure.label(image > 0.5).max(), [region.area for region in measure.regionprops(measure.label(image > 0.5))])
print(filters.sobel(image).sum().round(4), feature.canny(image).sum(), morphology.skeletonize(image > 0).sum())
print(transform.rotate(image, 30).sum().round(3), segmentation.slic(color.gray2rgb(image), 5, start_label=1).max())
print(data.__name__, feature.peak_local_max(filters.gaussian(image, 3), num_peaks=2))
