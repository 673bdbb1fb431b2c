import tree

nested = {"a": [1, (2, 3)], "b": {"c": 4}}
print(tree.flatten(nested), tree.map_structure(lambda x: x * 2, nested), tree.flatten_with_path(nested)[1])
try:
    tree.assert_same_structure(nested, {"a": 1, "b": 2})
except (ValueError, TypeError) as error:
    print(type(error).__name__)
