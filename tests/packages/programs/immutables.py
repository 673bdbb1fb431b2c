import immutables

base = immutables.Map({i: str(i) for i in range(1000)})
with base.mutate() as mutation:
    for i in range(0, 1000, 3):
        del mutation[i]
    changed = mutation.finish()
print(len(base), len(changed), changed[1], base == changed.update({i: str(i) for i in range(1000)}), type(base))
