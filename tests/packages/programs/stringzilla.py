import stringzilla

text = stringzilla.Str("the quick brown fox jumps over the lazy dog " * 100)
print(text.count("the"), text.find("fox"), len(text.split(" ")), stringzilla.hash("text") != 0)
