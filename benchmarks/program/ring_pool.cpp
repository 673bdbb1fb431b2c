#include "ring_pool.h"

#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <system_error>

#include "input.h"
#include "ring_waiting.h"

extern char** environ;

namespace multipy::benchmark {
namespace {

void write(Message& to, const at::IValue& value) {
  if (value.isTensor()) {
    const at::Tensor tensor = value.toTensor().contiguous();
    const bool isFloat = tensor.scalar_type() == at::kFloat;
    if (!isFloat && tensor.scalar_type() != at::kLong)
      throw std::runtime_error("only float and int64 tensors go through the ring");
    to.kind = Kind::Tensor;
    to.type = isFloat ? 0 : 1;
    to.dimensions = tensor.dim();
    for (int i = 0; i < tensor.dim(); ++i) to.sizes[i] = tensor.size(i);
    to.bytes = static_cast<std::int64_t>(tensor.nbytes());
    if (tensor.dim() > kMaxDimensions || tensor.nbytes() > kMessageBytes)
      throw std::runtime_error("a tensor is too large for the ring");
    std::memcpy(to.data, tensor.const_data_ptr(), tensor.nbytes());
  } else if (value.isInt()) {
    to.kind = Kind::Number;
    to.bytes = 0;
    to.number = value.toInt();
  } else {
    to.kind = Kind::Text;
    std::size_t bytes = 0;
    for (const at::IValue& line : value.toListRef()) {
      const std::string& text = line.toStringRef();
      if (bytes + text.size() >= kMessageBytes)
        throw std::runtime_error("too much text for the ring");
      std::memcpy(to.data + bytes, text.c_str(), text.size() + 1);
      bytes += text.size() + 1;
    }
    to.bytes = static_cast<std::int64_t>(bytes);
  }
}

at::IValue read(const Message& from) {
  switch (from.kind) {
    case Kind::Tensor: {
      at::Tensor tensor = at::empty(at::IntArrayRef(from.sizes, from.dimensions),
                                    from.type == 0 ? at::kFloat : at::kLong);
      std::memcpy(tensor.mutable_data_ptr(), from.data, from.bytes);
      return tensor;
    }
    case Kind::Number:
      return from.number;
    case Kind::Text: {
      c10::List<std::string> lines;
      for (std::int64_t at = 0; at < from.bytes;) {
        lines.push_back(reinterpret_cast<const char*>(from.data) + at);
        at += static_cast<std::int64_t>(lines.get(lines.size() - 1).size()) + 1;
      }
      return lines;
    }
    case Kind::Error:
      throw std::runtime_error("a worker's model failed: " +
                               std::string(reinterpret_cast<const char*>(from.data), from.bytes));
  }
  throw std::runtime_error("a worker answered with an unknown kind of message");
}

}  // namespace

/// One worker process and the ring that is shared with it.
class RingWorker {
 public:
  explicit RingWorker(std::vector<std::string> command) {
    const int file = memfd_create("multipy-benchmark-ring", 0);  // the worker inherits it
    if (file < 0 || ftruncate(file, sizeof(Ring)) != 0)
      throw std::system_error(errno, std::generic_category(), "memory for a ring");
    void* memory = mmap(nullptr, sizeof(Ring), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
      throw std::system_error(errno, std::generic_category(), "mapping a ring");
    ring_ = static_cast<Ring*>(memory);  // zeros: all slots free, in round 0
    command.push_back(std::to_string(file));
    std::vector<char*> words;
    for (auto& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    const int error = posix_spawnp(&process_, words[0], nullptr, nullptr, words.data(), environ);
    close(file);
    if (error) throw std::system_error(error, std::generic_category(), "starting " + command[0]);
  }

  ~RingWorker() {
    ring_->stop = 1;
    for (Slot& slot : ring_->slots) futexWake(slot.turn, INT32_MAX);
    if (!ended_) waitpid(process_, nullptr, 0);
    munmap(ring_, sizeof(Ring));
  }

  /// Requests that are under way, or have been promised by take().
  int underWay() const { return underWay_.load(); }
  /// One more of them, if there are still `expected`.
  bool take(int expected) { return underWay_.compare_exchange_strong(expected, expected + 1); }

  /// After take().
  at::IValue call(std::int64_t model, const at::IValue& argument) {
    const std::uint64_t ticket = tickets_++;
    Slot& slot = ring_->slots[ticket % kSlots];
    await(slot, freeTurn(ticket));
    write(slot.request, argument);
    slot.request.model = model;
    passTurn(slot, askedTurn(ticket));
    await(slot, answeredTurn(ticket));
    at::IValue answer = read(slot.answer);
    passTurn(slot, freeTurn(ticket + kSlots));
    --underWay_;
    return answer;
  }

 private:
  void await(Slot& slot, std::uint32_t turn) {
    if (!awaitTurn(slot, turn, [&] { return alive(); }))
      throw std::runtime_error("a worker process has ended");
  }

  bool alive() {
    if (waitpid(process_, nullptr, WNOHANG) == process_) ended_ = true;
    return !ended_;
  }

  Ring* ring_ = nullptr;
  pid_t process_ = -1;
  std::atomic<bool> ended_ = false;
  std::atomic<std::uint64_t> tickets_{0};
  std::atomic<int> underWay_{0};
};

struct RingPool::ModelTarget : Target {
  ModelTarget(RingPool& p, std::int64_t n, const Model& model)
      : pool(p), number(n), name(model.name), input(model.input) {}

  void call(int thread, long request) override {
    pool.pick().call(number, input.arguments(thread, request).at(0));
  }

  RingPool& pool;
  const std::int64_t number;
  const std::string name;
  Input input;
};

RingPool::RingPool(int workers, const std::vector<std::string>& command,
                   const std::vector<Model>& models)
    : limit_(workers) {
  std::vector<std::string> words = command;
  std::string packages;
  for (const Model& model : models) packages += (packages.empty() ? "" : ":") + model.package;
  words.push_back(packages);
  for (int i = 0; i < workers; ++i) workers_.push_back(std::make_unique<RingWorker>(words));
  for (const Model& model : models)
    targets_.push_back(std::make_unique<ModelTarget>(*this, targets_.size(), model));
  for (auto& worker : workers_)
    for (auto& target : targets_) {
      worker->take(0);  // always: no other thread has it yet
      worker->call(target->number, target->input.arguments(0, 0).at(0));
    }
}

RingPool::~RingPool() = default;

Target& RingPool::target(const std::string& name) {
  for (auto& target : targets_)
    if (target->name == name) return *target;
  throw std::runtime_error("no worker has a model " + name);
}

RingWorker& RingPool::pick() {
  for (;;) {
    std::size_t best = 0;
    int fewest = workers_.at(0)->underWay();
    for (std::size_t i = 1; i < limit_ && fewest > 0; ++i)
      if (const int now = workers_[i]->underWay(); now < fewest) {
        best = i;
        fewest = now;
      }
    if (workers_[best]->take(fewest)) return *workers_[best];
  }
}

}  // namespace multipy::benchmark
