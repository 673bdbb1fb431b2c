"""CUDA graphs: captured and replayed, with random numbers, and by make_graphed_callables.

Captured by modes that other threads' work does not disturb.
"""

import torch
from showing import show

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).cuda().eval()
held = torch.zeros(2, 16, device="cuda")
side = torch.cuda.Stream()
with torch.no_grad():
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(held)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        result = model(held)
    for value in 1.0, -2.0:
        held.fill_(value)
        graph.replay()
        show(f"replayed {value}", result)
        print(torch.allclose(result, model(held), atol=1e-5))

torch.manual_seed(9)
drawing = torch.cuda.CUDAGraph()
with torch.cuda.graph(drawing, capture_error_mode="thread_local"):
    drawn = torch.rand(3, device="cuda")
drawing.replay()
show("drawn", drawn)
drawing.replay()
show("drawn again", drawn)
torch.manual_seed(9)
drawing.replay()
show("seeded again", drawn)
