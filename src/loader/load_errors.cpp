#include "loader/load_errors.h"

#include <dlfcn.h>

#include <array>
#include <fstream>
#include <set>
#include <string_view>
#include <vector>

#include "loader/c_api_names.h"
#include "loader/loaded_objects.h"

namespace multipy::loader {
namespace {

void replaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// "undefined symbol: PzFoo" → "undefined symbol: PyFoo"
void restoreCApiName(std::string& text) {
  constexpr std::string_view kBefore = "undefined symbol: ";
  const std::size_t at = text.find(kBefore);
  if (at == std::string::npos) return;
  const std::size_t start = at + kBefore.size();
  const std::size_t letter = start + (text.compare(start, 1, "_") == 0 ? 2 : 1);
  const std::size_t end = text.find_first_of(" ,\n", start);
  if (isPrivateCApiName(text.substr(start, end - start))) text[letter] = 'y';
}

bool mentionsOneOf(const std::string& text, std::initializer_list<std::string_view> phrases) {
  for (const auto phrase : phrases) {
    if (text.find(phrase) != std::string::npos) return true;
  }
  return false;
}

std::string mappingAdvice() {
  std::size_t limit = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> limit;
  const std::size_t count = countAllMappings();
  if (limit == 0 || count < limit - limit / 10) return {};
  return "; the process has " + std::to_string(count) + " memory mappings and the limit is " +
         std::to_string(limit) + ": raise it (sysctl vm.max_map_count), or use fewer interpreters";
}

std::string advice(const std::string& text) {
  if (mentionsOneOf(text, {"static TLS"})) {
    return "; the room that glibc keeps for thread-local variables of this kind is used up by the "
           "copies of the interpreters: start the program with "
           "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384 in its environment, or share this "
           "library (InterpreterManagerOptions::isolationOverrides)";
  }
  if (mentionsOneOf(text, {"failed to map segment", "cannot change memory protections",
                           "cannot map zero-fill pages", "Cannot allocate memory",
                           "cannot allocate memory"})) {
    return mappingAdvice();
  }
  return {};
}

}  // namespace

std::string whereMissingWereSearched(const std::string& error, const Library& library,
                                     const LibraryGraph& graph) {
  std::string text;
  std::set<const Library*> seen{&library};
  std::vector<const Library*> queue{&library};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const auto& need : queue[i]->needs) {
      if (need.library) {
        if (seen.insert(need.library).second) queue.push_back(need.library);
      } else if (error.find(need.name) != std::string::npos) {
        text += "; " + need.name + " is needed by " + queue[i]->file.string() +
                " and was looked for in";
        for (const std::string& place : graph.searched(queue[i]->requester)) text += " " + place;
        text +=
            ": install what has it, or name its directory in LD_LIBRARY_PATH before the "
            "program starts";
      }
    }
  }
  return text;
}

std::string takeDlError() {
  const char* text = ::dlerror();
  return text ? text : "ld.so gave no reason";
}

std::string loadErrorText(const std::filesystem::path& library, std::string dlError,
                          const std::map<std::string, std::string>& originals) {
  const std::string hint = advice(dlError);
  for (const auto& [copy, original] : originals) replaceAll(dlError, copy, original);
  restoreCApiName(dlError);
  std::string text = dlError;
  if (text.find(library.string()) == std::string::npos) text = library.string() + ": " + text;
  return text + hint;
}

}  // namespace multipy::loader
