// The place in a package that Python code moves about in, over a reader that may lie.
//
// An input: what the reader does (a byte), the size of its file (a byte), then calls: a byte
// that says which, and 8 bytes for its argument.
#include "interpreter/values/package_cursor.h"

#include <cstring>

#include "fuzz/input.h"

namespace multipy::fuzz {
namespace {

enum class Lie : uint8_t { None, GivesNothing, GivesHalf, GivesMore, Throws, SaysTooMuch, Count };

class LyingReader final : public caffe2::serialize::ReadAdapterInterface {
 public:
  LyingReader(Lie lie, std::size_t size) : lie_(lie), bytes_(size, '\0') {
    for (std::size_t i = 0; i < size; ++i) bytes_[i] = i % 7 == 6 ? '\n' : static_cast<char>(i);
  }

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const override {
    return lie_ == Lie::SaysTooMuch ? ~std::size_t{0} - bytes_.size() : bytes_.size();
  }
  std::size_t read(uint64_t position, void* into, std::size_t n, const char*) const override {
    promise(position <= bytes_.size() && n <= bytes_.size() - position,
            "the reader was asked for what the file does not have");
    if (lie_ == Lie::Throws) throw std::runtime_error("the disk is gone");
    if (lie_ == Lie::GivesNothing) return 0;
    const std::size_t got = lie_ == Lie::GivesHalf ? (n + 1) / 2 : n;
    std::memcpy(into, bytes_.data() + position, got);
    return lie_ == Lie::GivesMore ? got + 1 : got;
  }

 private:
  Lie lie_;
  std::string bytes_;
};

int64_t argument(Input& input) {
  int64_t value = 0;
  const auto bytes = input.take(sizeof value);
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

void checkRead(const LyingReader& reader, int64_t before, std::string_view got) {
  promise(reader.bytes().compare(static_cast<std::size_t>(before), got.size(), got) == 0,
          "other bytes were read than there are");
}

void call(PackageCursor& cursor, const LyingReader& reader, uint8_t which, int64_t value) {
  const int64_t before = cursor.position();
  if (which % 4 == 0) return cursor.seek(value, which / 4);
  std::string got;
  if (which % 4 == 3) {
    got = cursor.readLine();
    promise(got.find('\n') >= got.size() - 1 || got.empty(), "a line goes on behind its end");
  } else {
    got.resize(static_cast<uint8_t>(value));
    got.resize(which % 4 == 1 ? cursor.readSome(got) : cursor.readAll(got));
  }
  if (!got.empty()) checkRead(reader, before, got);
  promise(cursor.position() == before + std::ssize(got), "the place is not behind what was read");
}

std::string word(int64_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

}  // namespace

Outcome exercise(std::span<const std::byte> bytes) {
  Input input(bytes);
  const auto lie = static_cast<Lie>(input.byte() % static_cast<uint8_t>(Lie::Count));
  const auto reader = std::make_shared<LyingReader>(lie, input.byte());
  auto outcome = Outcome::Accepted;
  try {
    PackageCursor cursor(reader);
    for (int calls = 0; !input.empty() && calls < 100; ++calls) {
      const uint8_t which = input.byte();
      const int64_t before = cursor.position();
      try {
        call(cursor, *reader, which, argument(input));
      } catch (const std::invalid_argument&) {
        outcome = Outcome::Refused;
        promise(cursor.position() == before, "a seek that is refused has moved");
      } catch (const std::runtime_error&) {
        outcome = Outcome::Refused;
        promise(lie != Lie::None && lie != Lie::GivesHalf, "an honest reader was refused");
      }
      promise(cursor.position() >= 0, "the place is before the start");
      promise(cursor.left() >= 0 && cursor.left() <= std::ssize(reader->bytes()),
              "more is left than there is");
    }
  } catch (const std::runtime_error&) {
    outcome = Outcome::Refused;
    promise(lie == Lie::SaysTooMuch, "an honest reader was refused");
  }
  return outcome;
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> all;
  for (const Lie lie : {Lie::None, Lie::GivesHalf})
    all.push_back(bytesOf(std::string{static_cast<char>(lie), 100} + '\x8' + word(-20) + '\x2' +
                          word(10) + '\x4' + word(-5) + '\x3' + word(0) + std::string(1, '\0') +
                          word(3) + '\x1' + word(200)));
  return all;
}

std::vector<std::string> words() {
  return {word(std::numeric_limits<int64_t>::max()), word(std::numeric_limits<int64_t>::min()),
          word(-1), '\x8' + word(0), '\x4' + word(1)};
}

}  // namespace multipy::fuzz
