import editdistance

print(editdistance.eval("kitten", "sitting"), editdistance.eval([1, 2, 3], [1, 3]), editdistance.distance("", "abc"))
