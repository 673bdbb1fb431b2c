import io

from fontTools import fontBuilder, ttLib
from fontTools.misc import bezierTools
from fontTools.pens import ttGlyphPen
from fontTools.varLib import iup

pen = ttGlyphPen.TTGlyphPen(None)
pen.moveTo((0, 0))
pen.lineTo((500, 0))
pen.qCurveTo((250, 700), (0, 0))
pen.closePath()
builder = fontBuilder.FontBuilder(1000)
builder.setupGlyphOrder([".notdef", "A"])
builder.setupCharacterMap({65: "A"})
builder.setupGlyf({".notdef": ttGlyphPen.TTGlyphPen(None).glyph(), "A": pen.glyph()})
builder.setupHorizontalMetrics({".notdef": (500, 0), "A": (600, 0)})
builder.setupHorizontalHeader(ascent=800, descent=-200)
builder.setupPost()
out = io.BytesIO()
builder.save(out)
font = ttLib.TTFont(io.BytesIO(out.getvalue()))
print(font.getBestCmap(), font["glyf"]["A"].xMax, round(bezierTools.calcCubicArcLengthC(0j, 1j, 2 + 0j, 3 + 1j), 6))
print(iup.__file__.endswith(".so"))
