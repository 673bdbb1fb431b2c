// What the threads of the pool's soak act upon: one manager, the model that all of them call, and
// the book of calls.
//
// Threads: every member from any thread; the manager is reset by one, when the others have ended.
#pragma once

#include <filesystem>
#include <memory>

#include "faults.h"
#include "later.h"
#include "ledger.h"
#include "multipy/runtime/interpreter_manager.h"
#include "reports.h"
#include "versions.h"

namespace multipy::soak::pool {

class Pool {
 public:
  /// With all interpreters started and warm.
  Pool(std::size_t interpreters, std::size_t mostLowInLine, bool slimTorch,
       std::filesystem::path packages);

  /// A model for that version, of a package that is opened for it.
  runtime::ReplicatedObj load(long version) const;
  /// Calls the object in the session once, so that it is warm.
  void warmUp(runtime::InterpreterSession& session);

  Faults faults;
  Ledger ledger{faults};
  Versions versions;
  Later later;
  std::unique_ptr<runtime::InterpreterManager> manager;
  runtime::ReplicatedObj model;

 private:
  const std::filesystem::path packages_;
  const Reports reports_{ledger};
};

}  // namespace multipy::soak::pool
