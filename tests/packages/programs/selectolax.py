from selectolax.lexbor import LexborHTMLParser

tree = LexborHTMLParser("<div id=a><p class=x>one<p>two</div>")
print([node.text() for node in tree.css("div > p")], tree.css_first("p.x").attributes, tree.html)
