#include "process/environment_variables.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
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
    const std::lock_guard lock(mutex_);
    // The C library changes a variable that is there without moving any.
    if (contains(name)) return result(::setenv(std::string(name).c_str(), value, overwrite));
    append(const_cast<char*>(kept_.insert(std::string(name) + "=" + value).first->c_str()));
    return 0;
  }

  int put(char* entry, std::string_view name) {
    const std::lock_guard lock(mutex_);
    if (contains(name)) return result(::putenv(entry));
    append(entry);
    return 0;
  }

  int remove(const char* name) {
    const std::lock_guard lock(mutex_);
    return result(::unsetenv(name));
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    replace(0);
  }

 private:
  static constexpr std::size_t kLeastCapacity = 128;

  static bool contains(std::string_view name) {
    for (char** entry = environ; entry && *entry; ++entry) {
      const std::string_view text = *entry;
      if (text.size() > name.size() && text[name.size()] == '=' && text.starts_with(name)) return true;
    }
    return false;
  }

  void append(char* entry) {
    std::size_t count = 0;
    while (environ && environ[count]) ++count;
    if (environ != mine_ || count + 1 >= capacity_) replace(count);
    publish<char*>(mine_[count + 1], nullptr);
    publish(mine_[count], entry);
  }

  /// A new array of ours with the first `count` variables. The old one stays for who reads it.
  void replace(std::size_t count) {
    const std::size_t capacity = std::max(kLeastCapacity, 2 * (count + 2));
    arrays_.push_back(std::make_unique<char*[]>(capacity));
    char** const made = arrays_.back().get();
    std::copy_n(environ, count, made);
    publish(environ, made);
    mine_ = made;
    capacity_ = capacity;
  }

  base::ForkMutex mutex_;
  std::vector<std::unique_ptr<char*[]>> arrays_;  // guarded by mutex_, as are the rest
  char** mine_ = nullptr;                         // the last of them
  std::size_t capacity_ = 0;                      // of that one, its null included
  std::set<std::string> kept_;                    // getenv's result stays valid for ever
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
