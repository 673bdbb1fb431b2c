import io

import numpy
import soundfile

wave = numpy.sin(numpy.arange(16000) / 16000 * 2 * numpy.pi * 440)
for kind in ("WAV", "FLAC", "OGG"):
    out = io.BytesIO()
    soundfile.write(out, wave, 16000, format=kind)
    data, rate = soundfile.read(io.BytesIO(out.getvalue()))
    print(kind, rate, len(data), numpy.abs(data).mean().round(3))
try:
    soundfile.read(io.BytesIO(b"nonsense"))
except soundfile.LibsndfileError as error:
    print(error.code)
