"""What two reports of one architecture say of each other, in words."""

TENSORS = ("outputs", "generated")  # {name: a tensor's description, or plain values}


def flaw(reported: dict) -> str:
    """Why plain Python's own report is nothing to compare with; empty if it is."""
    if "error" in reported:
        return f"in plain Python: {reported['error']}"
    if not reported["outputs"] or not reported["gradients"]["count"]:
        return "in plain Python: nothing was computed"
    described = [*reported["outputs"].values(), reported["gradients"]]
    if not all(description["finite"] for description in described):
        return "in plain Python: not finite"
    if all(description["distinct"] < 2 for description in reported["outputs"].values()):
        return "in plain Python: all outputs are constant"
    return ""


def compare(expected: dict, found: dict) -> str:
    """What differs, and by how much; empty if all is equal to the last bit."""
    if expected == found:
        return ""
    if "error" in found:
        return found["error"]
    differences = []
    for part in sorted(expected.keys() | found.keys()):
        mine, other = expected.get(part, {}), found.get(part, {})
        if mine != other:
            differences.append(_tensors(mine, other, part) if part in TENSORS else f"{part} differ")
    return "; ".join(differences)


def _tensors(expected: dict, found: dict, part: str) -> str:
    differ = [name for name in sorted(expected.keys() | found.keys()) if expected.get(name) != found.get(name)]
    return f"{part} differ: " + ", ".join(f"{name}{_how_much(expected.get(name), found.get(name))}" for name in differ)


def _how_much(expected, found) -> str:
    described = all(isinstance(side, dict) and "samples" in side for side in (expected, found))
    if not described or expected["shape"] != found["shape"] or expected["dtype"] != found["dtype"]:
        return f" ({found} for {expected})"
    largest = max(abs(a - b) for a, b in zip(expected["samples"], found["samples"], strict=True))
    return f" (by up to {largest:g} in {len(found['samples'])} sampled values)"
