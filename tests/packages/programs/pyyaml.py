import yaml

text = "a: [1, 2.5, {b: null}]\nwhen: 2024-05-06\n? complex\n: 'quoted'\nanchor: &x {k: v}\nalias: *x\n"
data = yaml.load(text, Loader=yaml.CSafeLoader)
print(data)
print(yaml.dump(data, Dumper=yaml.CSafeDumper))
try:
    yaml.load("a: [1, 2", Loader=yaml.CSafeLoader)
except yaml.YAMLError as error:
    print(error)
