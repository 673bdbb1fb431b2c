import io

from PIL import Image, ImageDraw, ImageFilter, ImageFont, features

image = Image.new("RGB", (64, 48), "white")
draw = ImageDraw.Draw(image)
draw.ellipse((8, 8, 40, 40), fill="red", outline="blue")
draw.text((4, 30), "text", fill="black", font=ImageFont.load_default(12))
blurred = image.filter(ImageFilter.GaussianBlur(2)).rotate(30).resize((32, 32), Image.Resampling.LANCZOS)
for kind in ("PNG", "JPEG", "WEBP", "TIFF", "GIF"):
    out = io.BytesIO()
    blurred.save(out, kind)
    print(kind, len(out.getvalue()), sum(Image.open(out).convert("L").tobytes()))
print(features.check("freetype2"), image.getbbox(), image.quantize(8).getcolors()[0][0])
try:
    Image.open(io.BytesIO(b"nonsense"))
except OSError as error:
    print(type(error).__name__)
