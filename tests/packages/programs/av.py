import io

import av
import numpy

out = io.BytesIO()
with av.open(out, "w", format="matroska") as container:
    stream = container.add_stream("mpeg4", rate=24)
    stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
    for i in range(12):
        frame = av.VideoFrame.from_ndarray(numpy.full((48, 64, 3), i * 20, numpy.uint8), "rgb24")
        container.mux(stream.encode(frame))
    container.mux(stream.encode())
with av.open(io.BytesIO(out.getvalue())) as container:
    frames = list(container.decode(video=0))
    print(len(frames), frames[5].to_ndarray(format="gray").mean().round(1), container.format.name)
try:
    av.open(io.BytesIO(b"nonsense"))
except av.error.InvalidDataError as error:
    print(type(error).__name__)
