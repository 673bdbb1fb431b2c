#include "integrations/triton/interpreter_pools.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace multipy::triton {
namespace {

/// A model as its neighbours in an interpreter know it.
struct Resident {
  std::string model, version;
  bool operator==(const Resident&) const = default;
};

HostInterpreter::Key nextKey() {
  static std::atomic<HostInterpreter::Key> last{0};
  return ++last;
}

}  // namespace

/// The interpreters of one pool, by their numbers. One that has ended leaves its number free.
class InterpreterPool {
 public:
  explicit InterpreterPool(std::string name) : name_(std::move(name)) {}

  std::shared_ptr<HostInterpreter> enter(HostInterpreter::Key key, Resident resident,
                                         const ModelPlace& at) {
    Host* best = nullptr;
    for (Host& each : hosts_)
      if (each.mayTake(resident) &&
          (best == nullptr || each.residents.size() < best->residents.size()))
        best = &each;
    auto host = best == nullptr ? nullptr : best->host.lock();
    if (host == nullptr) {
      best = &freeHost();
      const auto number = std::to_string(best - hosts_.data() + 1);
      host = std::make_shared<HostInterpreter>(
          HostInterpreter::Options{at.prefix, at.server, name_ + "/" + number});
      best->host = host;
    }
    best->residents.emplace(key, std::move(resident));
    return host;
  }

  void leave(HostInterpreter::Key key) noexcept {
    for (Host& each : hosts_) each.residents.erase(key);
  }

 private:
  struct Host {
    std::weak_ptr<HostInterpreter> host;
    std::map<HostInterpreter::Key, Resident> residents;

    bool mayTake(const Resident& resident) const {
      return !residents.empty() &&
             std::all_of(residents.begin(), residents.end(),
                         [&](const auto& each) { return each.second != resident; });
    }
  };

  Host& freeHost() {
    for (Host& each : hosts_)
      if (each.residents.empty()) return each;
    return hosts_.emplace_back();
  }

  const std::string name_;
  std::vector<Host> hosts_;
};

namespace {

/// All of the process. A pool stays when it is empty.
struct Pools {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, InterpreterPool> all;  // by name and environment

  static Pools& instance() {
    static Pools pools;
    return pools;
  }
};

}  // namespace

Placement::~Placement() {
  if (pool_ == nullptr) return;
  const std::lock_guard lock(Pools::instance().mutex);
  pool_->leave(key_);
}

std::unique_ptr<Placement> placeOf(const std::string& model, const ModelPlace& at) {
  const HostInterpreter::Key key = nextKey();
  if (at.pool.empty())
    return std::make_unique<Placement>(
        std::make_shared<HostInterpreter>(HostInterpreter::Options{at.prefix, at.server, {}}), key,
        nullptr);
  Pools& pools = Pools::instance();
  const std::lock_guard lock(pools.mutex);
  InterpreterPool& pool = pools.all.try_emplace({at.pool, at.prefix}, at.pool).first->second;
  return std::make_unique<Placement>(pool.enter(key, {model, at.version}, at), key, &pool);
}

}  // namespace multipy::triton
