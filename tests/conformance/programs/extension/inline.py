"""A Python extension module built by torch.utils.cpp_extension, and an operator library."""

import os
import tempfile

import torch
from showing import raised, show
from torch.utils import cpp_extension

source = """
#include <torch/extension.h>
#include <torch/csrc/autograd/anomaly_mode.h>
torch::Tensor plus(torch::Tensor x, double n) { return x + n; }
py::dict facts(torch::Tensor x) { py::dict d; d["sum"] = x.sum().item<double>(); d["dtype"] = py::cast(x.dtype() == torch::kFloat); return d; }
torch::Tensor call(py::function f, torch::Tensor x) { return f(x).cast<torch::Tensor>() * 2; }
void fail() { TORCH_CHECK_VALUE(false, "from the extension"); }
py::object guarded(py::function f) { torch::autograd::DetectAnomalyGuard guard(false); return f(); }
struct Counter { int n = 0; int next() { return ++n; } };
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("plus", &plus); m.def("facts", &facts); m.def("call", &call); m.def("fail", &fail);
  m.def("guarded", &guarded);
  py::class_<Counter>(m, "Counter").def(py::init<>()).def("next", &Counter::next);
}
"""
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "source.cpp")
    open(path, "w").write(source)
    module = cpp_extension.load("conformance_extension", [path], extra_cflags=["-O0"], build_directory=folder)
    x = torch.ones(2, requires_grad=True)
    module.plus(x, 2.5).sum().backward()
    show("plus", module.plus(x, 2.5))
    show("grad", x.grad)
    print(module.facts(x), [module.Counter().next() for _ in range(2)])
    show("call", module.call(lambda t: t.sin(), x))
    raised("fail", module.fail)
    raised("python error", module.call, lambda t: 1 / 0, x)
    modes = lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    print("anomaly mode", module.guarded(modes), modes())
