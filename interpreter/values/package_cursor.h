// A place in a torch.package, and what a file object does with one: seeks, reads, reads a
// line. No Python in here: package_file.cpp makes a file object of it.
//
// The reader may be the user's: how much it says that there is, and how much it gives, is
// checked.
//
// Threads: one at a time.
#pragma once

#include <caffe2/serialize/read_adapter_interface.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace multipy {

class PackageCursor {
 public:
  using Reader = std::shared_ptr<caffe2::serialize::ReadAdapterInterface>;

  /// At the start. Throws runtime_error if no file can have so many bytes as the reader says.
  explicit PackageCursor(Reader reader) : reader_(std::move(reader)) {
    const std::size_t size = reader_->size();
    if (size > static_cast<std::size_t>(kMost))
      throw std::runtime_error("the reader of the package says that it has " +
                               std::to_string(size) + " bytes, expected at most " +
                               std::to_string(kMost));
    size_ = static_cast<std::int64_t>(size);
  }

  std::int64_t position() const noexcept { return position_; }
  /// 0 behind the end.
  std::int64_t left() const noexcept { return position_ < size_ ? size_ - position_ : 0; }

  /// As lseek(2): behind the end is allowed. Throws invalid_argument, and stays, where the
  /// place is before the start or has no number.
  void seek(std::int64_t offset, int whence) {
    if (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END)
      throw std::invalid_argument("seek with whence " + std::to_string(whence) +
                                  ", expected 0, 1 or 2");
    const std::int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? position_ : size_;
    if (offset < -base) throw std::invalid_argument("seek to before the start of the package");
    if (offset > kMost - base) throw std::invalid_argument("seek too far behind the package's end");
    position_ = base + offset;
  }

  /// How many bytes were read; 0 only at the end or into nothing. Throws runtime_error where
  /// the reader gives none, or more than it was asked for, and what the reader throws.
  std::size_t readSome(std::span<char> into) {
    const auto n = std::min(into.size(), static_cast<std::size_t>(left()));
    if (n == 0) return 0;
    const std::size_t got = reader_->read(static_cast<std::uint64_t>(position_), into.data(), n,
                                          "reading a torch.package");
    if (got == 0)
      throw std::runtime_error("the package ends at byte " + std::to_string(position_) +
                               ", expected " + std::to_string(size_) +
                               " bytes: it was truncated after it had been opened");
    if (got > n)
      throw std::runtime_error("the reader of the package gave " + std::to_string(got) +
                               " bytes, expected at most " + std::to_string(n));
    position_ += static_cast<std::int64_t>(got);
    return got;
  }

  /// All of `into`, or up to the end. As readSome().
  std::size_t readAll(std::span<char> into) {
    std::size_t done = 0;
    while (done < into.size()) {
      const std::size_t got = readSome(into.subspan(done));
      if (got == 0) break;
      done += got;
    }
    return done;
  }

  /// Up to and with '\n', or up to the end. As readSome().
  std::string readLine() {
    std::string line;
    for (char next = 0; next != '\n' && readSome({&next, 1}) == 1;) line += next;
    return line;
  }

 private:
  static constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

  const Reader reader_;
  std::int64_t size_ = 0;
  std::int64_t position_ = 0;  // from 0 to kMost; may be behind size_
};

}  // namespace multipy
