"""Graph breaks: where, how many, fullgraph's refusal, explain."""

import torch
from showing import raised, show

torch._dynamo.reset()
graphs = []


def backend(module, inputs):
    graphs.append([str(n.target) for n in module.graph.nodes if n.op not in ("placeholder", "output")])
    return module.forward


@torch.compile(backend=backend)
def f(x):
    y = x + 1
    print("in between", y.tolist())
    if y.sum() > 3:
        return y * 2
    return y - 2


show("f", (f(torch.ones(2)), f(torch.zeros(2))))
print(*graphs, sep="\n")
torch._dynamo.reset()
raised("fullgraph", torch.compile(lambda x: x if x.sum() > 0 else -x, backend="eager", fullgraph=True), torch.ones(1))
torch._dynamo.reset()
explained = torch._dynamo.explain(lambda x: (torch._dynamo.graph_break(), x + 1)[1] * 2)(torch.ones(1))
print(explained.graph_count, explained.graph_break_count, explained.op_count)


@torch.compiler.disable
def hidden(x):
    return x * 100


torch._dynamo.reset()
show("disabled", torch.compile(lambda x: hidden(x + 1) + 1, backend="eager")(torch.ones(1)))
print(torch.compiler.is_compiling(), torch.compile(lambda x: x + torch.compiler.is_compiling(), backend="eager")(torch.ones(1)))
