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

/// The interpreters of one pool, by their numbers. One that has ended leaves its number free.
class Pool {
 public:
  explicit Pool(std::string name) : name_(std::move(name)) {}

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

/// All of the process.
struct Pools {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Pool> all;  // by name and environment

  static Pools& instance() {
    static Pools pools;
    return pools;
  }
};

class OwnInterpreter final : public Placement {
 public:
  explicit OwnInterpreter(const ModelPlace& at)
      : Placement(
            std::make_shared<HostInterpreter>(HostInterpreter::Options{at.prefix, at.server, {}}),
            nextKey()) {}
};

class SharedInterpreter final : public Placement {
 public:
  static std::unique_ptr<Placement> in(Resident resident, const ModelPlace& at) {
    Pools& pools = Pools::instance();
    const std::lock_guard lock(pools.mutex);
    Pool& pool = pools.all.try_emplace({at.pool, at.prefix}, at.pool).first->second;
    const HostInterpreter::Key key = nextKey();
    return std::unique_ptr<Placement>(
        new SharedInterpreter(pool.enter(key, std::move(resident), at), key, pool));
  }

  ~SharedInterpreter() override {
    const std::lock_guard lock(Pools::instance().mutex);
    pool_.leave(key());
  }

 private:
  SharedInterpreter(std::shared_ptr<HostInterpreter> host, HostInterpreter::Key key, Pool& pool)
      : Placement(std::move(host), key), pool_(pool) {}

  Pool& pool_;  // which stays
};

}  // namespace

std::unique_ptr<Placement> placeOf(const std::string& model, const ModelPlace& at) {
  if (at.pool.empty()) return std::make_unique<OwnInterpreter>(at);
  return SharedInterpreter::in({model, at.version}, at);
}

}  // namespace multipy::triton
