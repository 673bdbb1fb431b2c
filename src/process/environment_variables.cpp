#include "process/environment_variables.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fork_mutex.h"

namespace multipy::process {
namespace {

// getenv() reads `environ` and the entries of the array without a lock.
template <class Word>
void publish(Word& word, Word value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

int result(int returned) { return returned == 0 ? 0 : errno; }

class Variables {
 public:
  static Variables& process() {
    static auto* const one = new Variables;  // threads may outlive the static destructors
    return *one;
  }

  int set(std::string_view name, const char* value, int overwrite) {
    const base::Lock lock(mutex_);
    // The C library changes a variable that is there without moving any.
    if (contains(name)) return result(::setenv(std::string(name).c_str(), value, overwrite));
    append(const_cast<char*>(kept_.insert(std::string(name) + "=" + value).first->c_str()));
    return 0;
  }

  int put(char* entry, std::string_view name) {
    const base::Lock lock(mutex_);
    if (contains(name)) return result(::putenv(entry));
    append(entry);
    return 0;
  }

  int remove(std::string_view name) {
    const base::Lock lock(mutex_);
    if (contains(name)) replace([&](std::string_view entry) { return !isOf(entry, name); });
    return 0;
  }

  void clear() {
    const base::Lock lock(mutex_);
    replace([](std::string_view) { return false; });
  }

 private:
  static constexpr std::size_t kLeastCapacity = 128;

  // Replaced arrays that are kept, and for how long at least.
  static constexpr std::size_t kReplacedKept = 4096;
  static constexpr std::chrono::seconds kReplacedKeptFor{1};

  struct Array {
    std::unique_ptr<char*[]> entries;
    std::chrono::steady_clock::time_point replacedAt{};
  };

  static bool isOf(std::string_view entry, std::string_view name) {
    return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
  }

  static bool contains(std::string_view name) {
    for (char** entry = environ; entry && *entry; ++entry)
      if (isOf(*entry, name)) return true;
    return false;
  }

  void append(char* entry) MULTIPY_REQUIRES(mutex_) {
    std::size_t count = 0;
    while (environ && environ[count]) ++count;
    if (environ != mine_ || count + 1 >= capacity_) replace([](std::string_view) { return true; });
    publish<char*>(mine_[count + 1], nullptr);
    publish(mine_[count], entry);
  }

  /// A new array of ours with those variables that `stays` is true for. The old one is not
  /// changed: getenv() in another thread would miss a variable that moves to another place, and
  /// execve() in a child of vfork() fails with EFAULT if there are fewer entries when it copies
  /// them than when it has counted them.
  template <class Predicate>
  void replace(Predicate&& stays) MULTIPY_REQUIRES(mutex_) {
    std::vector<char*> entries;
    for (char** entry = environ; entry && *entry; ++entry)
      if (stays(*entry)) entries.push_back(*entry);
    const std::size_t capacity = std::max(kLeastCapacity, 2 * (entries.size() + 2));
    const auto now = std::chrono::steady_clock::now();
    arrays_.push_back({std::make_unique<char*[]>(capacity)});
    char** const made = arrays_.back().entries.get();
    std::copy(entries.begin(), entries.end(), made);
    publish(environ, made);
    mine_ = made;
    capacity_ = capacity;
    if (arrays_.size() > 1) (arrays_.end() - 2)->replacedAt = now;
    while (arrays_.size() > kReplacedKept + 1 &&
           now - arrays_.front().replacedAt > kReplacedKeptFor)
      arrays_.pop_front();
  }

  base::ForkMutex mutex_;
  std::deque<Array> arrays_ MULTIPY_GUARDED_BY(mutex_);
  char** mine_ MULTIPY_GUARDED_BY(mutex_) = nullptr;       // the last of them
  std::size_t capacity_ MULTIPY_GUARDED_BY(mutex_) = 0;    // of that one, its null included
  std::set<std::string> kept_ MULTIPY_GUARDED_BY(mutex_);  // getenv's result stays valid for ever
};

bool isName(const char* name) { return name && *name && !std::strchr(name, '='); }

/// No exception may reach C code.
template <class Work>
int orNoMemory(Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

}  // namespace

int setProcessVariable(const char* name, const char* value, int overwrite) {
  if (!isName(name) || !value) return EINVAL;
  return orNoMemory([&] { return Variables::process().set(name, value, overwrite); });
}

int removeProcessVariable(const char* name) {
  if (!isName(name)) return EINVAL;
  return orNoMemory([&] { return Variables::process().remove(name); });
}

int putProcessVariable(char* entry) {
  const char* const equals = std::strchr(entry, '=');
  if (!equals) return removeProcessVariable(entry);
  const std::string_view name(entry, equals - entry);
  return orNoMemory([&] { return Variables::process().put(entry, name); });
}

int clearProcessVariables() {
  return orNoMemory([] {
    Variables::process().clear();
    return 0;
  });
}

}  // namespace multipy::process
