import jellyfish

print(jellyfish.damerau_levenshtein_distance("ca", "abc"), jellyfish.soundex("Robert"), jellyfish.metaphone("Thompson"))
print(round(jellyfish.jaro_winkler_similarity("martha", "marhta"), 6), jellyfish.__name__)
