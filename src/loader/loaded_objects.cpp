#include "loader/loaded_objects.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <fstream>
#include <string>

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

std::map<std::string, MemoryRange> memoryRanges(const std::set<std::string>& paths) {
  struct Search {
    const std::set<std::string>& paths;
    std::map<std::string, MemoryRange> found;
  } search{paths, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto& search = *static_cast<Search*>(data);
        if (!search.paths.contains(object->dlpi_name)) return 0;
        ElfW(Addr) begin = ~ElfW(Addr){0}, end = 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = object->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          begin = std::min(begin, object->dlpi_addr + segment.p_vaddr);
          end = std::max(end, object->dlpi_addr + segment.p_vaddr + segment.p_memsz);
        }
        search.found[object->dlpi_name] = {reinterpret_cast<const void*>(begin),
                                           reinterpret_cast<const void*>(end)};
        return 0;
      },
      &search);
  return std::move(search.found);
}

std::size_t countAllMappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

}  // namespace multipy::loader
