// What glibc and the kernel say about the objects that this process has loaded.
//
// Threads: all functions from any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

struct link_map;

namespace multipy::loader {

/// The file of the object that ld.so would take for a DT_NEEDED of `name`
/// because it is loaded already; empty if there is none.
std::filesystem::path fileLoadedAs(const std::string& name);

/// The object that `address` lies in; null if in none. Its l_name is the path
/// it was opened by. glibc's handles are pointers to these.
link_map* objectAt(const void* address);

/// Where objects lie in memory: [begin, end) by the path they were opened by,
/// for those named in `paths`.
using MemoryRange = std::pair<const void*, const void*>;
std::map<std::string, MemoryRange> memoryRanges(const std::set<std::string, std::less<>>& paths);

/// Number of lines in /proc/self/maps.
std::size_t countAllMappings();

}  // namespace multipy::loader
