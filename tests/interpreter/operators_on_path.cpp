// Operators in a library without Python, in a directory that is on sys.path.
#include <torch/library.h>

namespace {
int64_t four() { return 4; }
}  // namespace

TORCH_LIBRARY(multipy_on_path, library) { library.def("four() -> int", four); }
