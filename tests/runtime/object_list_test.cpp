// Nothing allocates in a callback of dl_iterate_phdr(), under ld.so's lock (base/object_list.h).
// This program has functions of its own in the place of that and of operator new.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/object_list.h"
#include "multipy/runtime/interpreter_manager.h"

namespace {

using Callback = int (*)(dl_phdr_info*, std::size_t, void*);

thread_local bool isInCallback = false;
std::atomic<int> walks = 0, allocations = 0;

}  // namespace

extern "C" __attribute__((visibility("default"))) int dl_iterate_phdr(Callback use, void* data) {
  struct Walk {
    Callback use;
    void* data;
  } walk{use, data};
  static const auto real =
      reinterpret_cast<int (*)(Callback, void*)>(::dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  ++walks;
  return real(
      [](dl_phdr_info* info, std::size_t size, void* data) {
        const auto& walk = *static_cast<Walk*>(data);
        isInCallback = true;
        const int result = walk.use(info, size, walk.data);
        isInCallback = false;
        return result;
      },
      &walk);
}

// (Not inlined: GCC would warn of free() for what operator new gives.)
__attribute__((noinline)) void* operator new(std::size_t size) {
  if (isInCallback) ++allocations;
  void* const memory = std::malloc(size);
  if (!memory) throw std::bad_alloc();
  return memory;
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace multipy {
namespace {

TEST(ObjectListTest, HasWhatTheDynamicLinkerShows) {
  struct Shown {
    std::string name;
    ElfW(Addr) base;
    std::vector<char> headers;
    bool operator==(const Shown&) const = default;
  };
  const auto shown = [](const char* name, ElfW(Addr) base, const ElfW(Phdr) * headers,
                        std::size_t count) {
    const auto* const bytes = reinterpret_cast<const char*>(headers);
    return Shown{name, base, {bytes, bytes + count * sizeof *headers}};
  };
  std::vector<Shown> expected, found;
  struct Out {
    decltype(shown)& show;
    std::vector<Shown>& all;
  } out{shown, expected};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        isInCallback = false;  // this is the test's own
        auto& out = *static_cast<Out*>(data);
        out.all.push_back(
            out.show(info->dlpi_name, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum));
        return 0;
      },
      &out);
  const base::ObjectList all([](const char*) { return true; });
  for (const auto& each : all)
    found.push_back(shown(each.name, each.base, each.headers.data(), each.headers.size()));
  EXPECT_EQ(found, expected);

  const base::ObjectList libc(
      [](const char* name) { return std::strstr(name, "/libc.so.") != nullptr; });
  ASSERT_EQ(libc.end() - libc.begin(), 1);
  EXPECT_NE(std::string(libc.begin()->name).find("/libc.so."), std::string::npos);
}

TEST(ObjectListTest, NothingAllocatesUnderTheDynamicLinkersLock) {
  walks = allocations = 0;
  {
    runtime::InterpreterManager manager(2);
    for (const auto& one : manager.allInstances())
      one.acquireSession().global("torch", "ones")({2});
  }
  EXPECT_GT(walks, 0);
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace multipy
