import markupsafe
from markupsafe import _speedups

print(_speedups._escape_inner("<a href='x'>&</a>"))
print(markupsafe.Markup("<b>%s</b>") % "<i>", markupsafe.Markup("&lt;x&gt;").unescape())
