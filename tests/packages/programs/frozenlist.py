import frozenlist

values = frozenlist.FrozenList([1, 2])
values.append(3)
values.freeze()
try:
    values.append(4)
except RuntimeError as error:
    print(error)
print(hash(values) == hash((1, 2, 3)), type(frozenlist.FrozenList).__name__, list(values))
