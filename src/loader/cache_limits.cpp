#include "loader/cache_limits.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <limits>
#include <string_view>
#include <system_error>

#include "base/file_descriptor.h"
#include "base/file_io.h"
#include "loader/trusted_directory.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

constexpr const char* kLimits = "limits";
constexpr const char* kNewLimits = "limits.new";
constexpr std::size_t kLongestText = 200;
constexpr std::string_view kNone = "none";

struct Unit {
  std::string_view name;
  std::uintmax_t value;
};

// The largest first, for textOf().
constexpr Unit kSizes[] = {{"TiB", std::uintmax_t{1} << 40},
                           {"TB", 1'000'000'000'000},
                           {"GiB", 1 << 30},
                           {"GB", 1'000'000'000},
                           {"MiB", 1 << 20},
                           {"MB", 1'000'000},
                           {"KiB", 1 << 10},
                           {"kB", 1'000},
                           {"B", 1}};
constexpr Unit kTimes[] = {{"d", 24 * 3600}, {"h", 3600}, {"min", 60}, {"s", 1}};
constexpr std::uintmax_t kLongestAge = std::uintmax_t{100} * 366 * 24 * 3600;

/// 0 if `text` is not a number with one of the units, or is more than `most`.
template <std::size_t count>
std::uintmax_t parse(std::string_view text, const Unit (&units)[count], std::uintmax_t most) {
  std::uintmax_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  for (const Unit& unit : units)
    if (unit.name == text) return number <= most / unit.value ? number * unit.value : 0;
  return 0;
}

template <std::size_t count>
std::string textOf(std::uintmax_t number, const Unit (&units)[count]) {
  for (const Unit& unit : units)
    if (number % unit.value == 0)
      return std::to_string(number / unit.value) + std::string(unit.name);
  return std::to_string(number);
}

std::string fileText(const CacheLimits& limits) {
  return "size " + textOfSizeLimit(limits.bytes) + "\nage " + textOfAgeLimit(limits.age) + "\n";
}

/// False if `text` is not what fileText() writes.
bool parseFile(std::string_view text, CacheLimits& limits) {
  constexpr std::string_view kSize = "size ", kAge = "\nage ";
  const std::size_t age = text.find(kAge);
  if (!text.starts_with(kSize) || !text.ends_with('\n') || age == std::string_view::npos)
    return false;
  const std::size_t start = age + kAge.size();
  return parseSizeLimit(std::string(text.substr(kSize.size(), age - kSize.size())), limits.bytes) &&
         parseAgeLimit(std::string(text.substr(start, text.size() - start - 1)), limits.age);
}

[[noreturn]] void failToRead(const std::filesystem::path& directory, const std::string& found) {
  throw runtime::CacheError(
      "cannot read the limits of the cache of copies in " + (directory / kLimits).string() + ": " +
      found +
      "; expected \"size 10GiB\" and \"age 30d\" on two lines: remove the "
      "file, or have it written anew by multipy cache --limit 10GiB --max-age 30d");
}

[[noreturn]] void failToWrite(const std::filesystem::path& directory, const std::string& why) {
  throw runtime::CacheError("cannot set the limits of the cache of copies in " +
                            directory.string() + ": " + why);
}

/// 0, or errno.
int writeFile(int cache, const std::string& text) {
  // One writer at a time; what one has left that was killed is overwritten.
  if (::flock(cache, LOCK_EX)) return errno;
  base::FileDescriptor file(
      ::openat(cache, kNewLimits, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return errno;
  if (const int error = base::writeAll(file.get(), text)) return error;
  if (::fsync(file.get()) || !file.close()) return errno;
  return ::renameat(cache, kNewLimits, cache, kLimits) ? errno : 0;
}

}  // namespace

CacheLimits cacheLimits(const std::filesystem::path& directory) {
  const base::FileDescriptor cache(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!cache && errno == ENOENT) return {};
  if (!cache) failToRead(directory, std::system_category().message(errno));
  return cacheLimits(cache.get(), directory);
}

CacheLimits cacheLimits(int cache, const std::filesystem::path& directory) {
  const base::FileDescriptor file(
      ::openat(cache, kLimits, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return {};
  if (!file) failToRead(directory, std::system_category().message(errno));
  const auto text = base::readAll(file.get(), kLongestText);
  if (!text) failToRead(directory, "it cannot be read, or is too long");
  CacheLimits limits;
  if (!parseFile(*text, limits)) failToRead(directory, "found \"" + *text + "\"");
  return limits;
}

void setCacheLimits(const std::filesystem::path& directory, const CacheLimits& limits) {
  std::string why;
  const base::FileDescriptor cache = openTrusted(std::filesystem::absolute(directory), why);
  if (!cache) failToWrite(directory, why);
  if (const int error = writeFile(cache.get(), fileText(limits)))
    failToWrite(directory, std::system_category().message(error));
}

bool parseSizeLimit(const std::string& text, std::optional<std::uintmax_t>& bytes) {
  bytes.reset();
  if (text == kNone) return true;
  const auto number = parse(text, kSizes, std::numeric_limits<std::int64_t>::max());
  if (number > 0) bytes = number;
  return bytes.has_value();
}

bool parseAgeLimit(const std::string& text, std::optional<std::chrono::seconds>& age) {
  age.reset();
  if (text == kNone) return true;
  const auto number = parse(text, kTimes, kLongestAge);
  if (number > 0) age = std::chrono::seconds(number);
  return age.has_value();
}

std::string textOfSizeLimit(const std::optional<std::uintmax_t>& bytes) {
  return bytes ? textOf(*bytes, kSizes) : std::string(kNone);
}

std::string textOfAgeLimit(const std::optional<std::chrono::seconds>& age) {
  return age ? textOf(static_cast<std::uintmax_t>(age->count()), kTimes) : std::string(kNone);
}

}  // namespace multipy::loader
