// How much a directory of copies may hold, and for how long. cache_trimming.h keeps to it.
//
// The limits belong to the directory, since all programs of a user share it: the text file
// `limits` in it, which `multipy cache --limit 2GiB --max-age 14d` writes.
//
// Threads: all functions from any thread and any number of processes at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace multipy::loader {

/// The default size is made for 64 interpreters with torch and numpy, which have 5.5 GB of
/// copies (85 MB each with torch 2.13), and nearly as much of other programs and versions.
struct CacheLimits {
  /// Of all copies together; none: no limit.
  std::optional<std::uintmax_t> bytes = std::uintmax_t{10} << 30;
  /// Since a copy was last used; none: no limit.
  std::optional<std::chrono::seconds> age = std::chrono::days(30);
  bool operator==(const CacheLimits&) const = default;
};

/// The limits of a directory; the default ones where none have been set or there is no such
/// directory. Throw CacheError where the file cannot be read or understood: it says what it
/// found, and how to have it written anew. `cache` is a descriptor of
/// `directory`.
CacheLimits cacheLimits(const std::filesystem::path& directory);
CacheLimits cacheLimits(int cache, const std::filesystem::path& directory);

/// Sets them, in a directory that is made if it is missing. Throws CacheError if it cannot be
/// used (trusted_directory.h) or written; the former limits are then still there.
void setCacheLimits(const std::filesystem::path& directory, const CacheLimits& limits);

// --- limits as text

inline constexpr const char* kSizeForms = "a size such as 500MB or 4GiB, or 'none'";
inline constexpr const char* kAgeForms = "a time such as 12h or 30d, or 'none'";

/// A number with B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB or TiB (of 1024), or "none".
/// False if it is neither, or zero, or too large to count.
bool parseSizeLimit(const std::string& text, std::optional<std::uintmax_t>& bytes);
/// A number with s, min, h or d, or "none". False if it is neither, or zero, or more than a
/// hundred years.
bool parseAgeLimit(const std::string& text, std::optional<std::chrono::seconds>& age);

/// In the largest unit that divides it, as the functions above read it.
std::string textOfSizeLimit(const std::optional<std::uintmax_t>& bytes);
std::string textOfAgeLimit(const std::optional<std::chrono::seconds>& age);

}  // namespace multipy::loader
