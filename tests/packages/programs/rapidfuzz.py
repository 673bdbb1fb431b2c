import rapidfuzz
from rapidfuzz import distance, fuzz, process

choices = [f"new york {i}" for i in range(50)] + ["newark", "york"]
print(process.extract("new yrok", choices, scorer=fuzz.WRatio, limit=3))
print(distance.Levenshtein.editops("kitten", "sitting"), fuzz.token_set_ratio("a b c", "c b x"))
print(process.cdist(["ab", "ac"], ["ab", "bc"], workers=2), rapidfuzz.fuzz.ratio.__module__)
