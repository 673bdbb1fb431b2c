// The place in a package: where it may go, and readers that lie.
#include "interpreter/values/package_cursor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace multipy {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

struct Reader final : caffe2::serialize::ReadAdapterInterface {
  std::size_t size() const override { return said; }
  std::size_t read(std::uint64_t position, void* into, std::size_t n, const char*) const override {
    if (position >= bytes.size()) return 0;
    const std::size_t got = std::min<std::size_t>(n, bytes.size() - position);
    std::memcpy(into, bytes.data() + position, got);
    return got + more;
  }

  std::string bytes = "one\ntwo\nthree";
  std::size_t said = bytes.size();
  std::size_t more = 0;
};

std::string readOf(PackageCursor& cursor, std::size_t n) {
  std::string text(n, '?');
  text.resize(cursor.readAll(text));
  return text;
}

TEST(PackageCursor, ReadsWhereItIs) {
  PackageCursor cursor(std::make_shared<Reader>());
  EXPECT_EQ(cursor.readLine(), "one\n");
  EXPECT_EQ(readOf(cursor, 2), "tw");
  cursor.seek(-3, SEEK_END);
  EXPECT_EQ(cursor.position(), 10);
  EXPECT_EQ(readOf(cursor, 100), "ree");
  EXPECT_EQ(readOf(cursor, 100), "");
  EXPECT_EQ(cursor.readLine(), "");
}

TEST(PackageCursor, StaysWhereAPlaceHasNoNumber) {
  PackageCursor cursor(std::make_shared<Reader>());
  cursor.seek(4, SEEK_SET);
  EXPECT_THROW(cursor.seek(-5, SEEK_CUR), std::invalid_argument);
  EXPECT_THROW(cursor.seek(kMost, SEEK_CUR), std::invalid_argument);
  EXPECT_THROW(cursor.seek(kMost, SEEK_END), std::invalid_argument);
  EXPECT_THROW(cursor.seek(-kMost - 1, SEEK_END), std::invalid_argument);
  EXPECT_THROW(cursor.seek(0, 3), std::invalid_argument);
  EXPECT_EQ(cursor.position(), 4);
  cursor.seek(kMost, SEEK_SET);  // far behind the end, as lseek() allows
  EXPECT_EQ(cursor.left(), 0);
  EXPECT_EQ(readOf(cursor, 10), "");
}

TEST(PackageCursor, RefusesReadersThatLie) {
  const auto reader = std::make_shared<Reader>();
  reader->more = 1;
  PackageCursor cursor(reader);
  EXPECT_THROW(readOf(cursor, 4), std::runtime_error);
  EXPECT_EQ(cursor.position(), 0);

  reader->more = 0;
  reader->bytes.resize(2);
  EXPECT_THROW(readOf(cursor, 4), std::runtime_error) << "it was cut off";

  reader->said = ~std::size_t{0};
  EXPECT_THROW(PackageCursor{reader}, std::runtime_error);
}

}  // namespace
}  // namespace multipy
