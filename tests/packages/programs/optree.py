import optree

leaves, spec = optree.tree_flatten({"b": (1, [2]), "a": None}, none_is_leaf=True)
print(leaves, spec, optree.tree_unflatten(spec, [5, 6, 7]), optree.tree_map(lambda x: x + 1, {"a": [1, 2]}))
