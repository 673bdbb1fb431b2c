"""A C++ operator library, built once for all, loaded by torch.ops.load_library."""

import fcntl
import os
import subprocess
import tempfile

import torch
from showing import raised, show
from torch.utils import cpp_extension

source = """
#include <torch/library.h>
#include <torch/custom_class.h>
#include <ATen/ATen.h>
at::Tensor halves(const at::Tensor& x) { return x / 2; }
at::Tensor meta(const at::Tensor& x) { return at::empty_like(x); }
struct Bag : torch::CustomClassHolder {
  std::vector<std::string> items;
  void put(std::string s) { items.push_back(s); }
  int64_t size() { return items.size(); }
};
TORCH_LIBRARY(conformance_cpp, m) {
  m.def("halves(Tensor x) -> Tensor");
  m.class_<Bag>("Bag").def(torch::init<>()).def("put", &Bag::put).def("size", &Bag::size);
}
TORCH_LIBRARY_IMPL(conformance_cpp, CPU, m) { m.impl("halves", halves); }
TORCH_LIBRARY_IMPL(conformance_cpp, Meta, m) { m.impl("halves", meta); }
"""


def build():
    """One file for this process, whichever thread comes first."""
    folder = os.path.join(tempfile.gettempdir(), f"conformance-operators-{os.getpid()}")
    os.makedirs(folder, exist_ok=True)
    library = os.path.join(folder, "libconformance_cpp.so")
    with open(os.path.join(folder, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(library):
            path = os.path.join(folder, "source.cpp")
            open(path, "w").write(source)
            includes = [f"-I{p}" for p in cpp_extension.include_paths()]
            (libraries,) = cpp_extension.library_paths()
            linked = [f"-L{libraries}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{libraries}"]
            command = ["g++", "-std=c++20", "-O0", "-shared", "-fPIC", *includes, path, "-o", library, *linked]
            subprocess.run(command, check=True)
    return library


library = build()
torch.ops.load_library(library)
torch.ops.load_library(library)
halves = torch.ops.conformance_cpp.halves
show("halves", halves(torch.ones(2)))
show("meta", halves(torch.ones(2, device="meta")))
bag = torch.classes.conformance_cpp.Bag()
bag.put("one")
print(bag.size(), halves.default._schema, os.path.basename(library) in str(torch.ops.loaded_libraries))
with torch.library._scoped_library("conformance_cpp", "IMPL") as lib:
    lib.impl("halves", lambda x: x * 50, "AutogradCPU")
    show("over", halves(torch.ones(1, requires_grad=True)))
show("again", halves(torch.ones(1)))
raised("missing", torch.ops.load_library, "/nowhere/lib.so")
