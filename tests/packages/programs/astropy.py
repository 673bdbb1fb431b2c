import io

import numpy
from astropy import coordinates, table, time, units, wcs
from astropy.io import fits
from astropy.utils import iers

iers.conf.auto_download = False
print((3 * units.km).to(units.lyr), coordinates.SkyCoord("05h35m17s", "-05d23m28s").galactic.l.round(5))
print(time.Time("2024-01-02T03:04:05").jd, time.Time(2460000.5, format="jd").iso)
out = io.BytesIO()
fits.HDUList([fits.PrimaryHDU(), fits.CompImageHDU(numpy.arange(100).reshape(10, 10))]).writeto(out)
print(fits.open(io.BytesIO(out.getvalue()))[1].data.sum(), table.Table.read("a b\n1 2\n3 4\n", format="ascii")["b"].sum())
sky = wcs.WCS(naxis=2)
sky.wcs.crpix, sky.wcs.cdelt, sky.wcs.ctype = [5, 5], [0.1, 0.1], ["RA---TAN", "DEC--TAN"]
print(sky.wcs_pix2world([[7, 7]], 1).round(6))
