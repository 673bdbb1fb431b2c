"""The kernel that an operator has at a key, asked for and called, before and after this Python's own."""

import torch
from showing import raised, show

NAME = "conformance_computed::scale"
has = torch._C._dispatch_has_computed_kernel_for_dispatch_key
# torch 2.9 and later hand the kernel out.
get = getattr(torch._C, "_dispatch_get_computed_kernel_for_dispatch_key", None)

lib = torch.library.Library("conformance_computed", "FRAGMENT")
lib.define("scale(Tensor x) -> Tensor")
op = torch.ops.conformance_computed.scale.default
x = torch.arange(3.0)
print("before:", has(NAME, "CPU"), has(NAME, "Meta"), has(NAME, "ADInplaceOrView"))
if get:
    raised("none", get, NAME, "CPU")
lib.impl("scale", lambda x: x * 2, "CPU")
print("CPU:", has(NAME, "CPU"), has(NAME, "Meta"))

if get:
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    first = get(NAME, "CPU")
    show("first", first.call_boxed(keys, x))

    # A kernel that calls the one below it, as custom_op's do for operators that change their arguments.
    calls = []

    def between(keys, x):
        calls.append(len(calls))
        return first.call_boxed(keys, x) + 1

    other = torch.library.Library("conformance_computed", "IMPL")
    other.impl("scale", between, "CPU", with_keyset=True, allow_override=True)
    show("between", op(x))
    print("calls:", calls)
    show("newest", get(NAME, "CPU").call_boxed(keys, x))
    addition = get("aten::add.Tensor", "CPU")
    show("aten", addition.call_boxed(keys, x, x))

lib.impl("scale", lambda x: x * 3, "CompositeExplicitAutograd")
print("Meta by an alias:", has(NAME, "Meta"))
if get:
    raised("alias", get, NAME, "CompositeExplicitAutograd")
