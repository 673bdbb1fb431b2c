#include <iostream>

#include "loader/cache_contents.h"
#include "loader/cache_limits.h"
#include "loader/cache_trimming.h"
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

std::string limitsText(const loader::CacheLimits& limits) {
  return "limits: size " + loader::textOfSizeLimit(limits.bytes) + ", age since the last use " +
         loader::textOfAgeLimit(limits.age);
}

[[noreturn]] void refuse(const Options& options, const char* option, const char* expected) {
  throw UsageError(std::string(option) + " is '" + options.value(option) + "', expected " +
                   expected);
}

struct NewLimits {
  explicit NewLimits(const Options& options)
      : size(options.has("--limit")), age(options.has("--max-age")) {
    if (size && !loader::parseSizeLimit(options.value("--limit"), limits.bytes))
      refuse(options, "--limit", loader::kSizeForms);
    if (age && !loader::parseAgeLimit(options.value("--max-age"), limits.age))
      refuse(options, "--max-age", loader::kAgeForms);
  }
  explicit operator bool() const noexcept { return size || age; }

  /// Sets what was given, and keeps to it at once.
  void apply(const std::filesystem::path& directory) const {
    loader::CacheLimits all = limits;
    if (!size || !age) {  // (both: also where those there cannot be read)
      const loader::CacheLimits former = loader::cacheLimits(directory);
      if (!size) all.bytes = former.bytes;
      if (!age) all.age = former.age;
    }
    loader::setCacheLimits(directory, all);
    const auto removed = loader::trimCache(directory);
    if (removed.copies > 0)
      std::cout << removed.copies << " copies, " << sizeText(removed.bytes) << " removed\n";
  }

  bool size, age;
  loader::CacheLimits limits;
};

int cache(const Words& words) {
  const Options options(words, {{"--cache"}, {"--limit"}, {"--max-age"}});
  const Words& rest = options.words();
  const bool clear = rest == Words{"clear"};
  if (!rest.empty() && !clear) throw UsageError("expected nothing or 'clear', found " + rest[0]);
  const NewLimits newLimits(options);

  const std::filesystem::path directory = directoryOf(options);
  if (directory.empty()) {
    const std::string why = "no directory: copies are kept in memory, since " +
                            loader::CopyCache::forUser()->whyInMemory();
    (newLimits ? std::cerr : std::cout) << why << "\n";
    return newLimits ? kFailed : kDone;
  }
  if (newLimits) newLimits.apply(directory);
  const auto contents = clear ? loader::clearCache(directory) : loader::cacheContents(directory);
  std::cout << directory.string() << ": " << contents.copies << " copies, "
            << sizeText(contents.bytes) << (clear ? " removed" : "") << "\n";
  std::cout << limitsText(loader::cacheLimits(directory)) << "\n";
  return kDone;
}

}  // namespace

const Command kCacheCommand = {
    "cache", "where private copies of libraries are kept, and how much that is",
    R"(usage: multipy cache [clear] [--limit SIZE] [--max-age AGE] [--cache DIRECTORY]

Tells where private copies of libraries are kept (for programs that name no
directory: multipy/ in the user's cache directory), how many there are, their
size, and the limits. With 'clear' they are removed: programs make those anew
that they need.

  --limit SIZE       of all copies: 500MB, 4GiB, none (default: 10GiB)
  --max-age AGE      since a copy was last used: 12h, 30d, none (default: 30d)
  --cache DIRECTORY  another directory than the user's

Limits are kept in the directory, for all programs that use it. What running
programs have in use stays, also where that alone is more.
)",
    /*makesInterpreters=*/false, cache};

}  // namespace multipy::tools
