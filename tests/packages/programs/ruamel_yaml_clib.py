import io

import ruamel.yaml

yaml = ruamel.yaml.YAML(typ="safe")
data = yaml.load("a: [1, {b: 2}]\nc: !!set {x, y}\n")
out = io.StringIO()
yaml.dump({"k": [1, 2, {"n": None}]}, out)
print(sorted(map(str, data)), out.getvalue(), ruamel.yaml.__with_libyaml__)
