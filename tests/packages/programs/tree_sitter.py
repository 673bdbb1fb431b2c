import tree_sitter
import tree_sitter_python

language = tree_sitter.Language(tree_sitter_python.language())
tree = tree_sitter.Parser(language).parse(b"def f(x):\n    return g(x) + 1\n")
print(tree.root_node, tree.root_node.children[0].child_by_field_name("name").text)
query = tree_sitter.Query(language, "(call function: (identifier) @name)")
print([node.text for nodes in tree_sitter.QueryCursor(query).captures(tree.root_node).values() for node in nodes])
