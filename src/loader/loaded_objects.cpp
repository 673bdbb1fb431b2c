#include "loader/loaded_objects.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>

#include "base/object_list.h"

namespace multipy::loader {

std::filesystem::path fileLoadedAs(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) {
    ::dlerror();  // that it is not loaded is an answer, not an error to keep
    return {};
  }
  link_map* map = nullptr;
  std::filesystem::path file;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] == '/') file = map->l_name;
  ::dlclose(handle);  // the count that dlopen added; what loaded it keeps it
  return file;
}

link_map* objectAt(const void* address) {
  Dl_info info;
  void* map = nullptr;
  if (!address || !::dladdr1(address, &info, &map, RTLD_DL_LINKMAP)) return nullptr;
  return static_cast<link_map*>(map);
}

std::map<std::string, MemoryRange> memoryRanges(const std::set<std::string, std::less<>>& paths) {
  std::map<std::string, MemoryRange> found;
  const base::ObjectList objects([&](const char* name) { return paths.contains(name); });
  for (const auto& object : objects) {
    ElfW(Addr) begin = ~ElfW(Addr){0}, end = 0;
    for (const ElfW(Phdr) & segment : object.headers) {
      if (segment.p_type != PT_LOAD) continue;
      begin = std::min(begin, object.base + segment.p_vaddr);
      end = std::max(end, object.base + segment.p_vaddr + segment.p_memsz);
    }
    found[object.name] = {reinterpret_cast<const void*>(begin), reinterpret_cast<const void*>(end)};
  }
  return found;
}

std::size_t countAllMappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

}  // namespace multipy::loader
