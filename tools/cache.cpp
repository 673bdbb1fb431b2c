#include <iostream>

#include "loader/cache_contents.h"
#include "loader/copy_cache.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/sizes.h"

namespace multipy::tools {
namespace {

std::filesystem::path directoryOf(const Options& options) {
  if (options.has("--cache")) return options.value("--cache");
  return loader::CopyCache::forUser()->directory();
}

int cache(const Words& words) {
  const Options options(words, {{"--cache"}});
  const Words& rest = options.words();
  const bool clear = rest == Words{"clear"};
  if (!rest.empty() && !clear) throw UsageError("expected nothing or 'clear', found " + rest[0]);

  const std::filesystem::path directory = directoryOf(options);
  if (directory.empty()) {
    std::cout << "no directory: copies are kept in memory, since "
              << loader::CopyCache::forUser()->whyInMemory() << "\n";
    return kDone;
  }
  const auto contents = clear ? loader::clearCache(directory) : loader::cacheContents(directory);
  std::cout << directory.string() << ": " << contents.copies << " copies, "
            << sizeText(contents.bytes) << (clear ? " removed" : "") << "\n";
  return kDone;
}

}  // namespace

const Command kCacheCommand = {"cache",
                               "where private copies of libraries are kept, and how much that is",
                               R"(usage: multipy cache [clear] [--cache DIRECTORY]

Tells where private copies of libraries are kept (for programs that name no
directory: multipy/ in the user's cache directory), how many there are and their
size. With 'clear' they are removed: the next program makes those anew that it needs.
Programs that run keep what they have loaded; do it when none is just starting.
)",
                               /*makesInterpreters=*/false, cache};

}  // namespace multipy::tools
