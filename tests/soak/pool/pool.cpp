#include "pool.h"

#include <ATen/Functions.h>

#include <utility>

#include "call.h"

namespace multipy::soak::pool {
namespace {

runtime::InterpreterManagerOptions optionsWith(std::size_t mostLowInLine, bool slimTorch) {
  runtime::InterpreterManagerOptions options;
  options.interpreters.slimTorch = slimTorch;
  options.pool.mostWaitingOf[static_cast<std::size_t>(runtime::CallPriority::Low)] = mostLowInLine;
  return options;
}

}  // namespace

Pool::Pool(std::size_t interpreters, std::size_t mostLowInLine, bool slimTorch,
           std::filesystem::path packages)
    : manager(std::make_unique<runtime::InterpreterManager>(interpreters,
                                                            optionsWith(mostLowInLine, slimTorch))),
      packages_(std::move(packages)) {
  versions.introduce(0);
  model = load(0);
  manager->setWarmUp([this](const runtime::Interpreter& interpreter) {
    auto session = model.acquireSession(&interpreter);
    warmUp(session);
  });
}

runtime::ReplicatedObj Pool::load(long version) const {
  return manager->loadPackage((packages_ / "pool.pt").string())
      .loadPickle("model", "version" + std::to_string(Versions::pickleOf(version)) + ".pkl");
}

void Pool::warmUp(runtime::InterpreterSession& session) {
  const CallId id = ledger.open("warm-up", Maker::Session);
  try {
    session.self({"compute", id, at::ones({4}), 0.0});
    ledger.close(id, End::Value);
  } catch (...) {
    ledger.close(id, End::Raised);
    throw;
  }
}

}  // namespace multipy::soak::pool
