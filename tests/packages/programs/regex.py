import regex

print(regex.findall(r"\p{Lu}\p{Ll}+", "Ärger über Éclair und Brot"))
print(regex.search(r"(?:cats|cat){e<=1}", "the cst sat").group(), regex.sub(r"(?r)\d{3}", "#", "1234567", count=1))
print(regex.fullmatch(r"(?P<x>a)+(?&y)?(?P<y>b)?", "aaab").captures("x"))
print(regex.split(r"(?V1)[[a-z]--[aeiou]]+", "qwertyuiop"))
