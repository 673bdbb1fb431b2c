// The cache of private copies: an entry is damaged, and then asked for. Whatever lies there,
// the copy that comes is the right one.
//
// An input: a byte that says what becomes of the copy, the text of `verified` (a part), then
// the bytes that take the copy's place. In the text a byte n < 16 stands for the n-th line
// of the right text, so that inputs need not know digests and inodes.
#include <filesystem>
#include <fstream>

#include "fuzz/input.h"
#include "loader/cache_contents.h"
#include "loader/copy_cache.h"
#include "multipy/runtime/Exception.h"
#include "runtime/temporary_folder.h"

namespace multipy::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "libcopy.so";
constexpr std::string_view kContents = "what a private copy has in it";

enum class Damage : uint8_t { None, Overwritten, Removed, Folder, Link, Unreadable, Open, Count };

std::string contentsOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A cache with one entry, for as long as the process lives.
class CacheWithOneEntry {
 public:
  CacheWithOneEntry()
      : folder_(testing_support::makeTemporaryFolder()), cache_(loader::CopyCache::in(folder_)) {}
  ~CacheWithOneEntry() { fs::remove_all(folder_); }

  /// The entry, found or made; sets `made`.
  fs::path get(bool& made) {
    made = false;
    const auto copy = cache_->get("key", kFileName, [&] {
      made = true;
      return bytesOf(kContents);
    });
    promise(contentsOf(copy->path()) == kContents, "a damaged copy was taken for right");
    promise(copy->path().filename() == kFileName, "the copy has become a memory file");
    return copy->path();
  }

  const fs::path& folder() const { return folder_; }

 private:
  const fs::path folder_;
  const std::shared_ptr<loader::CopyCache> cache_;
};

std::string expanded(const std::string& text, const std::string& right) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < right.size();) {
    const std::size_t end = std::min(right.find('\n', at), right.size());
    lines.push_back(right.substr(at, end - at));
    at = end + 1;
  }
  std::string result;
  for (const char c : text) {
    const auto line = static_cast<unsigned char>(c);
    if (line < lines.size())
      result += lines[line];
    else
      result += c;
  }
  return result;
}

void overwrite(const fs::path& file, std::string_view bytes) {
  fs::permissions(file, fs::perms::owner_all);
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

void damage(const fs::path& copy, Damage how, const std::string& bytes) {
  switch (how) {
    case Damage::None:
    case Damage::Count:
      return;
    case Damage::Overwritten:
      return overwrite(copy, bytes);
    case Damage::Removed:
      fs::remove(copy);
      return;
    case Damage::Folder:
      fs::remove(copy);
      fs::create_directory(copy);
      return;
    case Damage::Link:
      fs::rename(copy, copy.string() + "-moved");
      fs::create_symlink(copy.string() + "-moved", copy);
      return;
    case Damage::Unreadable:
      fs::permissions(copy, fs::perms::none);
      return;
    case Damage::Open:
      overwrite(copy, bytes);
      fs::permissions(copy, fs::perms::all);
      return;
  }
}

std::size_t copiesIn(const fs::path& folder) { return loader::cacheContents(folder).copies; }

}  // namespace

Outcome exercise(std::span<const std::byte> bytes) {
  static CacheWithOneEntry cache;
  Input input(bytes);
  const auto how = static_cast<Damage>(input.byte() % static_cast<uint8_t>(Damage::Count));
  const bool keepsText = input.byte() % 2 == 0;
  const std::string text = input.part();

  bool made = false;
  const fs::path copy = cache.get(made);
  const fs::path verified = copy.parent_path() / "verified";
  const std::string right = contentsOf(verified);
  if (!keepsText) overwrite(verified, expanded(text, right));
  damage(copy, how, textOf(input.rest()));

  promise(copiesIn(cache.folder()) == 1, "a damaged entry is not counted");
  static_cast<void>(cache.get(made));
  const Outcome outcome = made ? Outcome::Refused : Outcome::Accepted;
  static_cast<void>(cache.get(made));
  promise(!made, "what has just been made or found right was made again");
  promise(copiesIn(cache.folder()) == 1, "the cache has another number of copies");
  return outcome;
}

std::vector<Bytes> seeds() {
  const std::string rs(1, Input::separator), whole = std::string("\0\n\1\n\2\n\3\n", 8);
  return {bytesOf(std::string("\0\0", 2) + whole + rs),
          bytesOf(std::string("\0\1", 2) + whole + rs),
          bytesOf(std::string("\0\1", 2) + std::string("\0\n\1\nanother stamp", 17) + rs),
          bytesOf(std::string("\1\1", 2) + whole + rs + std::string(kContents))};
}

std::vector<std::string> words() {
  return {"multipy copy 1\n",
          std::string("\0\n\1\n", 4),
          "size ",
          " inode ",
          " modified ",
          " changed ",
          " boot ",
          std::string(1, Input::separator),
          std::string(kContents)};
}

}  // namespace multipy::fuzz
