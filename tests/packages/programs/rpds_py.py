import rpds

base = rpds.HashTrieMap({"a": 1})
other = base.insert("b", 2).remove("a")
print(dict(base), dict(other), rpds.List([1, 2]).push_front(0), sorted(rpds.HashTrieSet({1, 2}).insert(3)))
try:
    base.remove("x")
except KeyError as error:
    print(error)
