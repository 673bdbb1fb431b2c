// What Python code tells the ledger: torch.ops.pool_soak.begun(id) and .ended(id), in every
// interpreter.
//
// Threads: one; the ledger lives as long.
#pragma once

#include <torch/library.h>

#include "ledger.h"

namespace multipy::soak::pool {

class Reports {
 public:
  explicit Reports(Ledger& ledger)
      : library_(torch::Library::DEF, "pool_soak", std::nullopt, __FILE__, __LINE__) {
    library_.def("begun(int id) -> ()", [&ledger](std::int64_t id) { ledger.begun(id); });
    library_.def("ended(int id) -> ()", [&ledger](std::int64_t id) { ledger.ended(id); });
  }

 private:
  torch::Library library_;
};

}  // namespace multipy::soak::pool
