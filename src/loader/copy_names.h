// Which copies a space has, by the names under which glibc knows them: what
// dladdr(), dlsym() and error texts have to look up.
//
// A look-up takes no lock. The loading lock may be held for seconds while copies are
// made; a thread in a static initialiser of the host, or that walks over all libraries,
// holds glibc's lock while another one holds the loading lock and waits for glibc's; and
// in a child of fork() no thread is left to give a lock back.
//
// Threads: all members from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include "base/mutex.h"

namespace multipy::loader {

class CopyNames;

/// The paths of all spaces' copies.
class CopiesOfAll {
 public:
  static CopiesOfAll& process() {
    static auto* const one = new CopiesOfAll;  // never destroyed: spaces may outlive statics
    return *one;
  }
  void add(const std::string& copy, const std::string& original, const CopyNames* space) {
    const base::Lock lock(mutex_);
    std::atomic<Entry*>& first = firstOf(copy);
    for (Entry* each = first.load(); each; each = each->next) {
      if (each->copy == copy && each->original == original) return each->space.store(space);
    }
    first.store(new Entry{copy, original, space, first.load()});
  }
  /// Unless it has become that of another.
  void remove(const std::string& copy, const CopyNames* space) {
    const base::Lock lock(mutex_);
    for (Entry* each = firstOf(copy).load(); each; each = each->next) {
      const CopyNames* owner = space;
      if (each->copy == copy) each->space.compare_exchange_strong(owner, nullptr);
    }
  }
  struct Found {
    const CopyNames* space;  // null: there is none of that path
    const char* original;    // stays for ever
  };
  Found find(std::string_view copy) const noexcept {
    for (const Entry* each = firstOf(copy).load(); each; each = each->next) {
      if (each->copy != copy) continue;
      if (const CopyNames* space = each->space.load()) return {space, each->original.c_str()};
    }
    return {nullptr, nullptr};
  }
  /// The path of the copy that this is another spelling of; empty where it is of none.
  std::string pathOf(const std::string& path) const {
    if (find(path).space) return path;
    if (path.find('/') == path.npos) return {};
    std::error_code failed;
    const std::filesystem::path real = std::filesystem::canonical(path, failed);
    return !failed && find(real.native()).space ? real.native() : std::string();
  }

 private:
  // Never deleted: the next interpreter in a slot has copies of the same paths.
  struct Entry {
    const std::string copy, original;
    std::atomic<const CopyNames*> space;
    Entry* const next;
  };
  static constexpr std::size_t kLists = 4096;
  std::atomic<Entry*>& firstOf(std::string_view copy) {
    return lists_[std::hash<std::string_view>()(copy) % kLists];
  }
  const std::atomic<Entry*>& firstOf(std::string_view copy) const {
    return lists_[std::hash<std::string_view>()(copy) % kLists];
  }

  base::Mutex mutex_;  // of threads that change something
  std::array<std::atomic<Entry*>, kLists> lists_{};
};

class CopyNames {
 public:
  CopyNames() = default;
  CopyNames(const CopyNames&) = delete;
  ~CopyNames() {
    for (const auto& [copy, original] : originals_) CopiesOfAll::process().remove(copy, this);
  }
  void add(const std::string& copy, const std::string& soname,
           const std::filesystem::path& original) {
    const base::Lock lock(mutex_);
    originals_[copy] = original;
    sonames_[soname] = original.filename();
    // Last: what is in there the destructor has to find in `originals_`.
    CopiesOfAll::process().add(copy, original, this);
  }
  void remove(const std::string& copy, const std::string& soname) {
    CopiesOfAll::process().remove(copy, this);
    const base::Lock lock(mutex_);
    originals_.erase(copy);
    sonames_.erase(soname);
  }

  /// The original of the copy at this path, or null. Without a lock.
  const char* original(std::string_view copy) const noexcept {
    const auto found = CopiesOfAll::process().find(copy);
    return found.space == this ? found.original : nullptr;
  }

  /// Copies' paths and sonames → what the user knows them by.
  std::map<std::string, std::string> forErrors() const {
    const base::Lock lock(mutex_);
    std::map<std::string, std::string> names(originals_.begin(), originals_.end());
    names.insert(sonames_.begin(), sonames_.end());
    return names;
  }

 private:
  mutable base::Mutex mutex_;
  // By path.
  std::map<std::string, std::string> originals_ MULTIPY_GUARDED_BY(mutex_);
  // By soname: the original's file name.
  std::map<std::string, std::string> sonames_ MULTIPY_GUARDED_BY(mutex_);
};

}  // namespace multipy::loader
