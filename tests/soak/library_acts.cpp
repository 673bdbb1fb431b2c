// Python's standard library, where it has state: in C, in the process, in the interpreter.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <ostream>

#include "acts.h"
#include "checks.h"
#include "nested_values.h"

namespace multipy::soak {
namespace {

constexpr const char* kModule = "soak_library";

std::vector<std::string> textsOf(const at::IValue& list) {
  std::vector<std::string> texts;
  for (const at::IValue& text : list.toListRef()) texts.push_back(text.toStringRef());
  return texts;
}

void garbage(World& world, Random& random) {
  const std::int64_t count = random.number(1, 20);
  expectEqual(call(world.session(random), kModule, "collected", count).toInt(), count,
              "the number of callbacks of weak references");
}

void logging(World& world, Random& random) {
  const std::string text = random.text(3);
  expectEqual(call(world.session(random), kModule, "logged", text).toStringRef(),
              "WARNING " + text + "\nDEBUG at level 10\n", "what was logged");
}

void printing(World& world, Random& random) {
  const std::string token = std::string(PrintedLines::kMark) + std::to_string(world.unique());
  const std::int64_t count = random.number(1, 10);
  std::vector<std::string> expected;
  for (std::int64_t i = 0; i < count; ++i) expected.push_back(token + " " + std::to_string(i));
  call(world.session(random), kModule, "print_lines", token, count);
  for (const auto stream : {runtime::OutputStream::Stdout, runtime::OutputStream::Stderr})
    expectEqual(at::ArrayRef<std::string>(world.printed.take(stream, token, expected.size())),
                at::ArrayRef<std::string>(expected), "the printed lines");
}

// The process's own variables, which all interpreters write at once: one variable a thread.
void environment(World& world, Random& random) {
  static std::atomic<int> threads{0};
  static thread_local const std::string name = "MULTIPY_SOAK_" + std::to_string(threads++);
  const std::string value = "value " + std::to_string(random.number(0, 1000));
  const auto seen = textsOf(call(world.session(random), kModule, "environment", name, value));
  expectEqual(at::ArrayRef<std::string>(seen),
              at::ArrayRef<std::string>({value, value, std::string("False")}),
              "a variable of the environment");
}

void times(World& world, Random& random) {
  const std::int64_t seconds = random.number(0, 4'000'000'000);
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S %j", &parts);
  expectEqual(call(world.session(random), kModule, "times", seconds).toStringRef(), text.data(),
              "the time");
}

void locale(World& world, Random& random) {
  const double number = static_cast<double>(random.number(0, 1'000'000)) / 8;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.3f", number);
  expectEqual(call(world.session(random), kModule, "formatted", number).toStringRef(), text.data(),
              "the formatted number");
}

void expressions(World& world, Random& random) {
  std::vector<std::string> words;
  std::string text;
  for (std::int64_t i = random.number(0, 20); i > 0; --i) {
    words.push_back(std::to_string(random.number(0, 1000)));
    words.push_back(
        std::string(random.number(1, 4), static_cast<char>('a' + random.number(0, 25))));
    text += words[words.size() - 2] + words.back() + "-";
  }
  expectEqual(
      at::ArrayRef<std::string>(textsOf(call(world.session(random), kModule, "words_of", text))),
      at::ArrayRef<std::string>(words), "the words of a text");
}

void pickling(World& world, Random& random) {
  const at::IValue value = nestedValue(random, 3);
  expectEqual(canonical(call(world.session(random), kModule, "pickled", value)), canonical(value),
              "a value that was pickled");
}

void callback(World& world, Random& random) {
  std::vector<std::int64_t> numbers;
  for (int i = 0; i < 20; ++i) numbers.push_back(random.number(-1000, 1000));
  const auto found = call(world.session(random), kModule, "sorted_by_c", numbers).toIntVector();
  std::ranges::sort(numbers);
  expectEqual(at::IntArrayRef(found), at::IntArrayRef(numbers), "the sorted numbers");
}

// zlib and OpenSSL give up the GIL with such buffers. The sums of 2 MiB of 'a', by sha256sum.
void checksums(World& world, Random& random) {
  const at::IValue sums =
      call(world.session(random), kModule, "checksums", 2, static_cast<int64_t>('a'));
  expectEqual(sums.toListRef()[0].toInt(), 593838807, "the crc32");
  expectEqual(sums.toListRef()[1].toStringRef(),
              "5256ec18f11624025905d057d6befb03d77b243511ac5f77ed5e0221ce6d84b5", "the SHA-256");
}

void decimals(World& world, Random& random) {
  const std::int64_t digits = random.number(1, 50);
  expectEqual(call(world.session(random), kModule, "decimals", digits).toStringRef(),
              "0." + std::string(digits, '3'), "a third");
}

void database(World& world, Random& random) {
  const std::int64_t count = random.number(1, 100);
  expectEqual(call(world.session(random), kModule, "table", count).toInt(), count * (count - 1) / 2,
              "the sum of a column");
}

void file(World& world, Random& random) {
  std::string text = random.text(20);
  expectEqual(call(world.session(random), kModule, "through_a_file", text).toStringRef(), text,
              "the text of a file");
}

void child(World& world, Random& random) {
  const std::string text = "soak " + std::to_string(random.next());
  expectEqual(call(world.session(random), kModule, "child_process", text).toStringRef(), text,
              "what a child printed");
}

// Of 100 modules whose source is registered while all work; each interpreter imports them once.
void lateModule(World& world, Random& random) {
  const std::int64_t number = random.number(0, 99);
  const std::string name = "soak_late_" + std::to_string(number);
  world.manager().registerModuleSource(
      name, "def answer():\n    return " + std::to_string(number) + "\n");
  expectEqual(call(world.session(random), name.c_str(), "answer").toInt(), number,
              "the answer of a module that came late");
}

}  // namespace

Acts libraryActs() {
  return {
      {"library.garbage", 1, garbage},
      {"library.logging", 5, logging},
      {"library.printing", 5, printing},
      {"library.environment", 5, environment},
      {"library.times", 5, times},
      {"library.locale", 5, locale},
      {"library.expressions", 5, expressions},
      {"library.pickling", 5, pickling},
      {"library.callback", 5, callback},
      {"library.checksums", 1, checksums},
      {"library.decimals", 5, decimals},
      {"library.database", 3, database},
      {"library.file", 3, file},
      {"library.child", 1, child, 1},
      {"library.late_module", 3, lateModule},
  };
}

}  // namespace multipy::soak
