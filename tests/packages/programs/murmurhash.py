from murmurhash import mrmr

print(mrmr.hash("text"), mrmr.hash("text", 7), [mrmr.hash(str(i)) for i in range(3)])
