import Levenshtein

print(Levenshtein.distance("kitten", "sitting"), Levenshtein.median(["spam", "span", "spun"]))
print(Levenshtein.opcodes("abc", "axc"), round(Levenshtein.jaro_winkler("dixon", "dicksonx"), 6))
