// No memory: an allocation fails, the n-th one, once or from then on, while an interpreter
// starts, imports, is called, loads a package or ends. What comes of it is a typed error or none
// at all; nothing is lost, other interpreters go on, and with memory all works again.
//
// Each n has a child of this program, and the tests take some forty of each kind. All of them:
//
//   no_memory_test --sweep PHASE malloc|pages once|on FROM TO STEP
//
// where PHASE is one of start, cold (start and import with an empty cache), import, call, end,
// torch (the import of torch), torch-package (a package is loaded and called), torch-end. TO 0
// means all. It prints how each that has not passed has ended, and where.
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "child_runs.h"
#include "expect_error.h"
#include "failing_calls.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "temporary_folder.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;
using testing_support::ChildRun;
using testing_support::Failing;
using testing_support::Times;

// ------------------------------------------------------------ what is done without memory

constexpr const char* kTools = R"(
import functools
def work(numbers, text):
    kept = {}
    for number in numbers:
        kept[number] = f'{text} {number}' * 20
    made = {}
    exec('class Made:\n    """' + 'a text that is made ' * 30 + '"""\n    def f(self): return 7', made)
    return sorted(kept.values())[0], len(kept), made['Made']().f()
class Kept:
    def __init__(self): self.values = [object() for _ in range(100)]
    def __call__(self, x): return [x, len(self.values)]
def kept(): return functools.partial(work, [1, 2, 3])
)";

struct Subject {
  std::unique_ptr<InterpreterManager> manager;
  std::optional<InterpreterSession> session;
  std::optional<ReplicatedObj> kept;
  fs::path folder;  // with a cache of its own; empty: the usual one

  ~Subject() {
    if (!folder.empty()) fs::remove_all(folder);
  }
  void start() {
    InterpreterManagerOptions options;
    if (!folder.empty()) options.cacheDirectory = folder / "cache";
    manager = std::make_unique<InterpreterManager>(1, options);
    manager->registerModuleSource("tools", kTools);
  }
  void call() {
    const InterpreterSession I = manager->acquireOne();
    const Obj work = I.global("tools", "work");
    const Obj result =
        work({c10::List<int64_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), std::string(300, 'x')});
    EXPECT_EQ(result.toIValue().toTupleRef().elements()[1].toInt(), 12);
    const Obj partial = I.global("tools", "kept")({});
    kept.emplace(manager->createMovable(partial, const_cast<InterpreterSession*>(&I)));
    EXPECT_EQ((*kept)({std::string("moved")}).toTupleRef().elements()[1].toInt(), 3);
  }
  void import() {
    const InterpreterSession I = manager->acquireOne();
    // The last two are files of their own: private copies.
    for (const char* name : {"json", "dataclasses", "_json", "decimal"})
      I.global("importlib", "import_module")({name});
  }
  void torch() {
    const InterpreterSession I = manager->acquireOne();
    const Obj ones = I.global("torch", "ones")({c10::List<int64_t>({2, 3})});
    EXPECT_EQ(I.global("torch", "sum")({ones}).toIValue().toTensor().item<float>(), 6);
  }
  void package() {
    const Package package = manager->loadPackage(MULTIPY_TEST_PACKAGES "/simple.pt");
    EXPECT_EQ(package.loadText("extra_files", "text"), "grüße");
    kept.emplace(package.loadPickle("model", "model.pkl"));
    const at::Tensor result = (*kept)({at::ones({10, 20})}).toTensor();
    EXPECT_EQ(result.size(0), 10);
  }
  void end() {
    kept.reset();
    session.reset();
    manager.reset();
  }
};

struct Phase {
  const char* name;
  void (*before)(Subject&);  // with memory
  void (*itself)(Subject&);
};

const Phase kPhases[] = {
    {"start", [](Subject&) {}, [](Subject& subject) { subject.start(); }},
    {"cold", [](Subject& subject) { subject.folder = testing_support::makeTemporaryFolder(); },
     [](Subject& subject) {
       subject.start();
       subject.import();
     }},
    {"import", [](Subject& subject) { subject.start(); },
     [](Subject& subject) { subject.import(); }},
    {"call",
     [](Subject& subject) {
       subject.start();
       subject.import();
     },
     [](Subject& subject) { subject.call(); }},
    {"end",
     [](Subject& subject) {
       subject.start();
       subject.import();
       subject.call();
       subject.session.emplace(subject.manager->acquireOne());
     },
     [](Subject& subject) { subject.end(); }},
    {"torch", [](Subject& subject) { subject.start(); }, [](Subject& subject) { subject.torch(); }},
    {"torch-package",
     [](Subject& subject) {
       subject.start();
       subject.torch();
     },
     [](Subject& subject) { subject.package(); }},
    {"torch-end",
     [](Subject& subject) {
       subject.start();
       subject.torch();
     },
     [](Subject& subject) { subject.end(); }},
};

const Phase& phaseOf(const std::string& name) {
  for (const Phase& phase : kPhases)
    if (name == phase.name) return phase;
  throw std::invalid_argument("no phase " + name);
}

// ------------------------------------------------------------ in the child

constexpr int kSomethingLeft = 5;

void expectToWork(InterpreterManager& manager) {
  const InterpreterSession I = manager.acquireOne();
  const auto text = I.global("json", "dumps")({c10::List<int64_t>({1, 2})}).toIValue();
  EXPECT_EQ(text.toStringRef(), "[1, 2]");
}

/// Does it, and says whether it ended as it may: well or by a typed error.
bool endsTyped(const Phase& phase, Subject& subject) {
  try {
    phase.itself(subject);
  } catch (const Error& error) {
    testing_support::stopFailing();
    std::fprintf(stdout, "typed: %.300s\n", error.what());
  } catch (const std::bad_alloc&) {
    testing_support::stopFailing();
    std::fprintf(stdout, "typed: std::bad_alloc\n");
  } catch (const std::exception& error) {
    testing_support::stopFailing();
    std::fprintf(stdout, "not typed: %s\n", error.what());
    return false;
  }
  return true;
}

int withFailure(const Phase& phase, Failing what, Times times, long nth) {
  InterpreterManager other(1);
  expectToWork(other);
  InterpreterManager(1);  // the cache of the latest one stays open, for the resident copy
  const std::size_t descriptors = testing_support::openDescriptors();
  const std::size_t threads = testing_support::runningThreads();
  {
    Subject subject;
    phase.before(subject);
    testing_support::failFrom(what, nth, times);
    const bool typed = endsTyped(phase, subject);
    std::fprintf(stdout, "calls %ld\nthe first to fail:\n", testing_support::stopFailing());
    std::fflush(stdout);
    testing_support::writeFirstFailed(STDOUT_FILENO);
    if (!typed) return 3;
    expectToWork(other);
    // It goes on, too, where there still is one.
    if (subject.manager && times == Times::Once) expectToWork(*subject.manager);
    subject.end();
    // What a writer has begun is swept, by who opens the cache next at the latest.
    if (!subject.folder.empty()) {
      subject.start();
      expectToWork(*subject.manager);
      subject.end();
      const fs::path drafts = subject.folder / "cache/tmp";
      EXPECT_TRUE(!fs::exists(drafts) || fs::is_empty(drafts));
    }
  }
  expectToWork(other);
  {
    InterpreterManager another(1);
    expectToWork(another);
  }
  // (Torch's pools of threads, and the resident copies, stay.)
  const bool plain = std::strncmp(phase.name, "torch", 5) != 0;
  if (plain) {
    EXPECT_TRUE(testing_support::threadsEndUntil(threads));
    if (testing::Test::HasFailure()) return 4;
    // What ends without any memory stays loaded, and with it the place of its copies.
    const std::size_t most = descriptors + (times == Times::FromThenOn ? 1 : 0);
    EXPECT_LE(testing_support::openDescriptors(), most) << testing_support::listDescriptors();
    if (testing::Test::HasFailure()) return kSomethingLeft;
  }
  return testing::Test::HasFailure() ? 4 : 0;
}

ChildRun runWithFailure(const Phase& phase, Failing what, Times times, long nth) {
  return testing_support::runInChild([&] { return withFailure(phase, what, times, nth); }, 120);
}

long callsOf(const ChildRun& run) {
  const std::size_t at = run.text.rfind("calls ");
  return at == run.text.npos ? 0 : std::atol(run.text.c_str() + at + 6);
}

// ------------------------------------------------------------ crashes that are not ours

/// Functions of others that come to harm where they have no memory, by the stack of the call that
/// failed or of the crash. docs/reliability.md names them.
struct NotOurs {
  const char* inText;
  const char* what;
  bool isCrash;  // else something is left
};
const NotOurs kNotOurs[] = {
    {"(dlclose+", "dlclose(): ld.so unloads nothing any more", false},
    {"failed to register TLS destructor", "__cxa_thread_atexit_impl() of glibc", true},
    {"cannot allocate memory for thread-local data", "__tls_get_addr() of glibc", true},
    {"Invalid clear_patients() call", "pybind11's end of a half made object, in torch", true},
};

/// The innermost library of the stack of a crash that is not the C or C++ library's.
std::string whereCrashed(const ChildRun& run) {
  std::istringstream lines(run.text.substr(std::min(run.text.find("crashed:\n"), run.text.size())));
  std::string line;
  // The heading, and what writes the stack.
  for (int skipped = 0; skipped < 3; ++skipped) std::getline(lines, line);
  while (std::getline(lines, line)) {
    if (line.find("(abort+") != line.npos) std::getline(lines, line);  // our own terminate handler
    const auto isIn = [&](const char* library) { return line.find(library) != line.npos; };
    if (!isIn("libc.so") && !isIn("libstdc++.so") && !isIn("libgcc_s.so") && !isIn("ld-linux"))
      return line;
  }
  return {};
}

/// Whether an exception has ended the process in a function of torch's that Python has called: from
/// where it was thrown out to CPython's call the stack has frames of torch and of C++'s library
/// only.
bool endedInTorch(const ChildRun& run) {
  if (run.text.find("std::terminate: std::bad_alloc") == run.text.npos) return false;
  std::istringstream lines(run.text.substr(run.text.find("crashed:\n")));
  std::string line, outside;
  bool wasThrown = false, isInTorch = false;
  while (std::getline(lines, line)) {
    wasThrown = wasThrown || line.find("(__cxa_throw+") != line.npos;
    if (!wasThrown || line.find("/libstdc++.so") != line.npos) continue;
    const bool isTorchs = line.find("/libtorch_") != line.npos || line.find("/libc10") != line.npos;
    if (!isTorchs) break;
    isInTorch = true;
  }
  // A static function of CPython's, which one of its API has called.
  return isInTorch && line.find("/libinterpreter.so(+") != line.npos &&
         std::getline(lines, outside) &&
         (outside.find("/libinterpreter.so(Pz") != outside.npos ||
          outside.find("/libinterpreter.so(_Pz") != outside.npos);
}

std::optional<std::string> whoseCrash(const ChildRun& run) {
  constexpr int kEndedByLdSo = 127;
  const bool exited = WIFEXITED(run.status);
  const bool left = exited && WEXITSTATUS(run.status) == kSomethingLeft;
  if (exited && !left && WEXITSTATUS(run.status) != kEndedByLdSo) return std::nullopt;
  for (const NotOurs& each : kNotOurs)
    if (each.isCrash != left && run.text.find(each.inText) != run.text.npos) return each.what;
  if (WIFSIGNALED(run.status) && endedInTorch(run))
    return "std::bad_alloc in a function of torch's that lets none out";
  // A fault in torch's own code; what it throws is looked at below. (A shared_ptr that cannot be
  // made deletes what it was to hold; pybind11, whose holder it was to be, deletes it once more.)
  const bool isFault = WIFSIGNALED(run.status) && WTERMSIG(run.status) == SIGSEGV;
  if (isFault || run.text.find("double free detected") != run.text.npos) {
    const std::string where = whereCrashed(run);
    if (where.find("/libtorch_") != where.npos || where.find("/libc10") != where.npos)
      return "a fault in torch: " + where.substr(where.rfind('/') + 1);
  }
  return std::nullopt;
}

// ------------------------------------------------------------ samples

/// The first ones and others spread over all.
std::set<long> sample(long all, long count) {
  std::set<long> picked;
  for (long i = 1; i <= std::min(all, count / 4); ++i) picked.insert(i);
  for (long i = 0; i < count; ++i) picked.insert(1 + all * i / count);
  return picked;
}

void expectAll(const char* phaseName, Failing what, Times times, long count) {
  const Phase& phase = phaseOf(phaseName);
  const ChildRun whole = runWithFailure(phase, what, times, 1'000'000'000);
  ASSERT_TRUE(whole.exitedWith(0));
  const long all = callsOf(whole);
  ASSERT_GT(all, 0) << whole.text;
  std::map<std::string, int> notOurs;
  for (const long nth : sample(all, count)) {
    const ChildRun run = runWithFailure(phase, what, times, nth);
    if (run.succeeded()) continue;
    if (const auto whose = whoseCrash(run))
      ++notOurs[*whose];
    else
      ADD_FAILURE() << phaseName << ", call " << nth << " of " << all << ": " << run.ending()
                    << "\n"
                    << run.text;
  }
  for (const auto& [whose, times] : notOurs)
    std::printf("%s: not ours, %d times: %s\n", phaseName, times, whose.c_str());
}

TEST(NoMemory, StartsOnce) { expectAll("start", Failing::Memory, Times::Once, 40); }
TEST(NoMemory, StartsAnyMore) { expectAll("start", Failing::Memory, Times::FromThenOn, 20); }
TEST(NoMemory, StartsWithoutPages) { expectAll("start", Failing::Pages, Times::Once, 20); }
TEST(NoMemory, StartsWithoutPagesAnyMore) {
  expectAll("start", Failing::Pages, Times::FromThenOn, 12);
}
TEST(NoMemory, WritesItsCopiesOnce) { expectAll("cold", Failing::Memory, Times::Once, 16); }
TEST(NoMemory, ImportsOnce) { expectAll("import", Failing::Memory, Times::Once, 24); }
TEST(NoMemory, ImportsAnyMore) { expectAll("import", Failing::Memory, Times::FromThenOn, 12); }
TEST(NoMemory, ImportsWithoutPages) { expectAll("import", Failing::Pages, Times::Once, 8); }
TEST(NoMemory, IsCalledOnce) { expectAll("call", Failing::Memory, Times::Once, 24); }
TEST(NoMemory, IsCalledAnyMore) { expectAll("call", Failing::Memory, Times::FromThenOn, 12); }
TEST(NoMemory, EndsOnce) { expectAll("end", Failing::Memory, Times::Once, 40); }
TEST(NoMemory, EndsAnyMore) { expectAll("end", Failing::Memory, Times::FromThenOn, 20); }

// With torch each child takes seconds, so these are few.
TEST(NoMemory, ImportsTorch) { expectAll("torch", Failing::Memory, Times::Once, 4); }
TEST(NoMemory, LoadsAPackage) { expectAll("torch-package", Failing::Memory, Times::Once, 4); }
TEST(NoMemory, EndsWithTorch) { expectAll("torch-end", Failing::Memory, Times::Once, 4); }

// ------------------------------------------------------------ a limit on address space

rlim_t usedAddressSpace() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

TEST(NoMemory, ALimitOnAddressSpaceIsALoadError) {
  const ChildRun run = testing_support::runInChild([] {
    InterpreterManager other(1);
    expectToWork(other);
    rlimit before{};
    ::getrlimit(RLIMIT_AS, &before);
    // For what a start takes in memory it is enough, and not for an interpreter's range.
    rlimit few = before;
    few.rlim_cur = usedAddressSpace() + (std::size_t{1} << 30);
    ::setrlimit(RLIMIT_AS, &few);
    testing_support::expectError<LoadError>([] { InterpreterManager another(1); },
                                            {"address space", "ulimit -v"});
    expectToWork(other);
    // And for nothing at all.
    few.rlim_cur = usedAddressSpace();
    ::setrlimit(RLIMIT_AS, &few);
    EXPECT_ANY_THROW(InterpreterManager another(1));
    expectToWork(other);
    ::setrlimit(RLIMIT_AS, &before);
    InterpreterManager another(1);
    expectToWork(another);
    return testing::Test::HasFailure() ? 4 : 0;
  });
  EXPECT_TRUE(run.exitedWith(0));
}

// ------------------------------------------------------------ all of them

int sweep(char** words) {
  const Phase& phase = phaseOf(words[0]);
  const Failing what = std::strcmp(words[1], "pages") == 0 ? Failing::Pages : Failing::Memory;
  const Times times = std::strcmp(words[2], "on") == 0 ? Times::FromThenOn : Times::Once;
  const long from = std::atol(words[3]), step = std::atol(words[5]);
  long to = std::atol(words[4]);
  const long all = callsOf(runWithFailure(phase, what, times, 1'000'000'000));
  std::printf("%ld calls in all\n", all);
  to = to == 0 ? all : to;
  long runs = 0, wrong = 0;
  std::map<std::string, int> notOurs;
  for (long nth = from; nth <= to; nth += step, ++runs) {
    const ChildRun run = runWithFailure(phase, what, times, nth);
    if (run.succeeded()) continue;
    if (const auto whose = whoseCrash(run)) {
      ++notOurs[*whose];
      continue;
    }
    ++wrong;
    std::printf("=== %ld: %s\n%s\n", nth, run.ending().c_str(), run.text.c_str());
  }
  for (const auto& [whose, count] : notOurs) std::printf("not ours: %d %s\n", count, whose.c_str());
  std::printf("%ld runs, %ld wrong\n", runs, wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace multipy::runtime

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  if (count == 8 && std::strcmp(words[1], "--sweep") == 0)
    return multipy::runtime::sweep(words + 2);
  return RUN_ALL_TESTS();
}
