from lxml import etree, html, objectify

root = etree.fromstring("<r xmlns:x='urn:x'><a n='1'>t</a><x:b/><a n='2'/></r>")
print(root.xpath("//a/@n"), root.xpath("count(//x:b)", namespaces={"x": "urn:x"}))
style = etree.XSLT(etree.XML("""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:template match="/"><out><xsl:for-each select="//a"><i><xsl:value-of select="@n"/></i></xsl:for-each></out></xsl:template>
</xsl:stylesheet>"""))
print(str(style(root)))
schema = etree.RelaxNG(etree.XML('<element name="r" xmlns="http://relaxng.org/ns/structure/1.0"><text/></element>'))
print(schema.validate(root), schema.validate(etree.XML("<r>t</r>")))
print(html.tostring(html.fromstring("<p>one<br>two<b>three")), objectify.fromstring("<a><b>5</b></a>").b + 1)
try:
    etree.fromstring("<a><b></a>")
except etree.XMLSyntaxError as error:
    print(error)
