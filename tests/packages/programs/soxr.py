import numpy
import soxr

wave = numpy.sin(numpy.arange(8000) / 10)
print(soxr.resample(wave, 8000, 16000).sum().round(6), len(soxr.resample(wave, 8000, 11025, "VHQ")))
stream = soxr.ResampleStream(8000, 4000, 1)
print(sum(len(stream.resample_chunk(part, last=i == 7)) for i, part in enumerate(numpy.split(wave.astype("f4"), 8))))
