// Which copies a space has, by the names under which glibc knows them: what
// dladdr(), dlsym() and error texts have to look up.
//
// Has a lock of its own, held for a look-up only. The loading lock may be held
// for seconds while copies are made; and a thread in a static initialiser of the
// host, which holds glibc's lock, may look a name up while another one holds the
// loading lock and waits for glibc's.
//
// Threads: all members from any thread.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace multipy::loader {

/// The paths of all spaces' copies.
class CopiesOfAll {
 public:
  static CopiesOfAll& process() {
    static auto* const one = new CopiesOfAll;  // never destroyed: spaces may outlive statics
    return *one;
  }
  void add(const std::string& copy) {
    std::lock_guard lock(mutex_);
    paths_.insert(copy);
  }
  void remove(const std::string& copy) {
    std::lock_guard lock(mutex_);
    paths_.erase(copy);
  }
  bool contain(std::string_view path) const {
    std::lock_guard lock(mutex_);
    return paths_.contains(path);
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> paths_;
};

class CopyNames {
 public:
  CopyNames() = default;
  CopyNames(const CopyNames&) = delete;
  ~CopyNames() {
    for (const auto& [copy, original] : originals_) CopiesOfAll::process().remove(copy);
  }
  void add(const std::string& copy, const std::string& soname,
           const std::filesystem::path& original) {
    CopiesOfAll::process().add(copy);
    std::lock_guard lock(mutex_);
    originals_[copy] = original;
    sonames_[soname] = original.filename();
  }
  void remove(const std::string& copy, const std::string& soname) {
    CopiesOfAll::process().remove(copy);
    std::lock_guard lock(mutex_);
    originals_.erase(copy);
    sonames_.erase(soname);
  }

  /// The original of the copy at this path, or null. Valid until remove().
  const char* original(const char* copy) const {
    std::lock_guard lock(mutex_);
    const auto found = originals_.find(copy);
    return found == originals_.end() ? nullptr : found->second.c_str();
  }

  /// Copies' paths and sonames → what the user knows them by.
  std::map<std::string, std::string> forErrors() const {
    std::lock_guard lock(mutex_);
    std::map<std::string, std::string> names(originals_.begin(), originals_.end());
    names.insert(sonames_.begin(), sonames_.end());
    return names;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> originals_;  // by path
  std::map<std::string, std::string> sonames_;                 // soname → original's file name
};

}  // namespace multipy::loader
