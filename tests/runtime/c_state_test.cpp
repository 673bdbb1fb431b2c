// C functions that remember something from call to call: each interpreter has that for itself
// (interpreter/libc/getopt.cpp, random_numbers.cpp). libc's, called by this program, say
// what they have to give.
#include <getopt.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

constexpr const char* kModule = R"py(
import ctypes

libc = ctypes.CDLL(None)
for name in 'drand48', 'erand48':
    getattr(libc, name).restype = ctypes.c_double
for name in 'random', 'lrand48', 'mrand48', 'nrand48', 'jrand48':
    getattr(libc, name).restype = ctypes.c_long
libc.seed48.restype = ctypes.POINTER(ctypes.c_ushort)
libc.initstate.restype = libc.setstate.restype = ctypes.c_void_p
libc.setstate.argtypes = [ctypes.c_void_p]
libc.srand48.argtypes = [ctypes.c_long]

class Option(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char_p), ('has_arg', ctypes.c_int), ('flag', ctypes.c_void_p), ('val', ctypes.c_int)]

def variable(name, kind=ctypes.c_int): return kind.in_dll(libc, name)

class CommandLine:
    """What is parsed, one option at each call."""
    def __init__(self, words, options, long_options, function):
        self.words = (ctypes.c_char_p * (len(words) + 1))(*(word.encode() for word in words), None)
        self.count = len(words)
        self.options = options.encode()
        self.long = (Option * (len(long_options) + 1))(
            *(Option(name.encode(), kind, None, value) for name, kind, value in long_options), Option())
        self.function = function
        variable('optind').value = 0
    def next(self):
        index = ctypes.c_int(-1)
        rest = (self.long, ctypes.byref(index)) if 'long' in self.function else ()
        found = getattr(libc, self.function)(self.count, self.words, self.options, *rest)
        argument = variable('optarg', ctypes.c_char_p).value
        return ' '.join(map(str, (found, 'null' if argument is None else argument.decode(), variable('optind').value,
                         variable('optopt').value, index.value, *(word.decode() for word in self.words[:-1]))))
    def all(self):
        found = [self.next()]
        while not found[-1].startswith('-1 '):
            found.append(self.next())
        return found

def all_of(*line): return CommandLine(*line).all()
def begin(*line):
    global line_
    line_ = CommandLine(*line)
def next(): return line_.next()

def numbers():
    own = (ctypes.c_ushort * 3)(1, 2, 3)
    memory = ctypes.create_string_buffer(64)
    found = [libc.rand(), libc.random(), libc.drand48(), libc.lrand48(), libc.mrand48()]
    libc.srand(5)
    libc.srand48(7)
    found += [libc.rand(), libc.random(), libc.drand48(), libc.erand48(own), libc.nrand48(own), libc.jrand48(own)]
    before = libc.initstate(9, memory, len(memory))
    found += [libc.random(), libc.random()]
    assert libc.setstate(before) == ctypes.addressof(memory)
    found += [libc.random()]
    found += [libc.seed48(own)[0], libc.lrand48()]
    libc.lcong48((ctypes.c_ushort * 7)(1, 2, 3, 4, 5, 6, 7))
    found += [libc.lrand48(), libc.rand()]
    return ' '.join('%.17g' % each for each in found)
def seed(number): libc.srand(number)
def rand(): return libc.rand()
)py";

struct LongOption {
  std::string name;
  int kind, value;
};

struct CommandLine {
  std::vector<std::string> words;
  std::string options;
  std::vector<LongOption> longOptions;
  std::string function;

  std::vector<c10::IValue> values() const {
    std::vector<c10::IValue> all;
    for (const LongOption& each : longOptions)
      all.push_back(c10::ivalue::Tuple::create({each.name, each.kind, each.value}));
    return {c10::IValue(words), options, list(all), function};
  }

  /// What libc's finds.
  std::vector<std::string> parsed() const {
    std::vector<std::string> copies = words;
    std::vector<char*> arguments;
    for (std::string& word : copies) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<option> known;
    for (const LongOption& each : longOptions)
      known.push_back({each.name.c_str(), each.kind, nullptr, each.value});
    known.push_back({});
    const int count = static_cast<int>(words.size());
    std::vector<std::string> all;
    optind = 0;
    for (int found = 0; found != -1;) {
      int index = -1;
      if (function == "getopt")
        found = ::getopt(count, arguments.data(), options.c_str());
      else if (function == "getopt_long")
        found = ::getopt_long(count, arguments.data(), options.c_str(), known.data(), &index);
      else
        found = ::getopt_long_only(count, arguments.data(), options.c_str(), known.data(), &index);
      std::ostringstream text;
      text << found << ' ' << (optarg ? optarg : "null") << ' ' << optind << ' ' << optopt << ' '
           << index;
      for (int i = 0; i < count; ++i) text << ' ' << arguments[i];
      all.push_back(text.str());
    }
    return all;
  }

 private:
  static c10::IValue list(const std::vector<c10::IValue>& values) {
    c10::List<c10::IValue> all(c10::AnyType::get());
    for (const c10::IValue& each : values) all.push_back(each);
    return all;
  }
};

/// Of few words, so that names meet their abbreviations, arguments and each other.
class CommandLines {
 public:
  CommandLine make() {
    CommandLine line;
    line.function = oneOf(std::array{"getopt", "getopt_long", "getopt_long_only"});
    line.options = oneOf(std::array{"", "", "+", "-", ":", "+:", "-:"});
    line.options += oneOf(std::array{"ab:c::", "a:b", "abW;", "", "c::f"});
    for (const LongOption& each : {LongOption{"file", 1, 'F'},
                                   {"fill", 2, 'I'},
                                   {"find", 1, 'F'},
                                   {"all", 0, 'A'},
                                   {"a", 0, 1000},
                                   {"add", 2, 'a'}})
      if (random() % 2) line.longOptions.push_back(each);
    line.words = {"program"};
    for (int count = static_cast<int>(random() % 7); count > 0; --count)
      line.words.push_back(oneOf(std::array{
          "x",       "-",     "--",      "-a",    "-b",     "-c",          "-ab",  "-bvalue",
          "-cvalue", "-abc",  "-z",      "-:",    "--file", "--file=name", "--fi", "--f",
          "--fil=x", "--all", "--all=x", "--a",   "--ad=",  "--nothing",   "-W",   "-Wfile",
          "-Wall=x", "-file", "-all",    "-fi=3", "-f",     "-zz",         "",     "name"}));
    return line;
  }

 private:
  template <std::size_t Size>
  std::string oneOf(const std::array<const char*, Size>& words) {
    return words[random() % Size];
  }
  std::size_t random() { return numbers_(); }
  std::mt19937 numbers_{1};
};

class CStateTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    manager_ = new InterpreterManager(2);
    manager_->registerModuleSource("c_state", kModule);
  }
  static void TearDownTestSuite() { delete std::exchange(manager_, nullptr); }

  static std::string call(std::size_t interpreter, const char* function,
                          const std::vector<c10::IValue>& values = {}) {
    const auto session = manager_->allInstances()[interpreter].acquireSession();
    const c10::IValue result = session.global("c_state", function)(values).toIValue();
    return result.isString() ? result.toStringRef() : "";
  }

  static InterpreterManager* manager_;
};
InterpreterManager* CStateTest::manager_ = nullptr;

TEST_F(CStateTest, CommandLinesAreParsedAsByLibc) {
  CommandLines lines;
  for (int i = 0; i < 3000; ++i) {
    const CommandLine line = lines.make();
    ::testing::internal::CaptureStderr();
    const std::vector<std::string> expected = line.parsed();
    const std::string expectedText = ::testing::internal::GetCapturedStderr();
    ::testing::internal::CaptureStderr();
    std::vector<std::string> found;
    {
      const auto session = manager_->allInstances()[0].acquireSession();
      const auto all = session.global("c_state", "all_of")(line.values()).toIValue();
      for (const c10::IValue& each : all.toListRef()) found.push_back(each.toStringRef());
    }
    const std::string text = ::testing::internal::GetCapturedStderr();
    std::string shown = line.function + " \"" + line.options + "\"";
    for (const std::string& word : line.words) shown += " '" + word + "'";
    for (const LongOption& each : line.longOptions) shown += " [" + each.name + "]";
    ASSERT_EQ(found, expected) << shown;
    ASSERT_EQ(text, expectedText) << shown;
  }
}

TEST_F(CStateTest, InterpretersParseCommandLinesInTurn) {
  const CommandLine first{{"first", "-zabc", "x", "-c", "y"}, ":abc", {}, "getopt"};
  const CommandLine second{{"second", "-yba", "-x", "value", "-b"}, ":abx:", {}, "getopt"};
  const auto expectedFirst = first.parsed(), expectedSecond = second.parsed();
  call(0, "begin", first.values());
  call(1, "begin", second.values());
  for (std::size_t i = 0; i < std::max(expectedFirst.size(), expectedSecond.size()); ++i) {
    if (i < expectedFirst.size()) {
      EXPECT_EQ(call(0, "next"), expectedFirst[i]);
    }
    if (i < expectedSecond.size()) {
      EXPECT_EQ(call(1, "next"), expectedSecond[i]);
    }
  }
}

TEST_F(CStateTest, RandomNumbersAreThoseOfAProcess) {
  const int first = ::rand();  // (the program's own are no part of an interpreter's)
  const std::string found = call(0, "numbers");
  EXPECT_EQ(call(1, "numbers"), found);
  EXPECT_NE(::rand(), first);
  // The program in its beginning, so far as it has drawn no number but these two.
  ::srand(1);
  unsigned short own[] = {1, 2, 3};
  char memory[64];
  std::ostringstream expected;
  expected.precision(17);
  expected << ::rand() << ' ' << ::random() << ' ' << ::drand48() << ' ' << ::lrand48() << ' '
           << ::mrand48();
  ::srand(5);
  ::srand48(7);
  expected << ' ' << ::rand() << ' ' << ::random() << ' ' << ::drand48() << ' ' << ::erand48(own);
  expected << ' ' << ::nrand48(own) << ' ' << ::jrand48(own);
  char* const before = ::initstate(9, memory, sizeof memory);
  expected << ' ' << ::random() << ' ' << ::random();
  ::setstate(before);
  expected << ' ' << ::random() << ' ' << ::seed48(own)[0] << ' ' << ::lrand48();
  unsigned short parameters[] = {1, 2, 3, 4, 5, 6, 7};
  ::lcong48(parameters);
  expected << ' ' << ::lrand48() << ' ' << ::rand();
  EXPECT_EQ(found, expected.str());
}

TEST_F(CStateTest, InterpretersDrawRandomNumbersInTurn) {
  const auto rand = [](std::size_t interpreter) {
    const auto session = manager_->allInstances()[interpreter].acquireSession();
    return session.global("c_state", "rand")({}).toIValue().toInt();
  };
  call(0, "seed", {5});
  call(1, "seed", {6});
  std::vector<int64_t> first, second;
  for (int i = 0; i < 10; ++i) {
    first.push_back(rand(0));
    second.push_back(rand(1));
  }
  ::srand(5);
  for (const int64_t each : first) EXPECT_EQ(each, ::rand());
  ::srand(6);
  for (const int64_t each : second) EXPECT_EQ(each, ::rand());
}

}  // namespace
}  // namespace multipy::runtime
