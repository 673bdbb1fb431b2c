// Interpreters that come and go: what a process keeps of each that has ended.
//
//   recycle PACKAGE [--cycles N] [--interpreters N] [--bare] [--every N]
//           [--quiet-start N]
//
// A cycle starts an InterpreterManager of two interpreters, loads a model of the package, calls
// it from four threads, uses numpy and autograd in a session, and destroys the manager. --bare
// starts the interpreters and calls one function in each, without torch.
// PACKAGE is simple.pt of tests/runtime/make_packages.py.
//
// Every 10 cycles (--every) one line says what the process has. The exit status is 1 if, from
// cycle 10 (--quiet-start) to the last one, mappings, threads, file descriptors, thread keys,
// modules with thread-local storage or address space have grown beyond bounds that do not
// depend on the number of cycles, or if more memory stays of each interpreter than said below.
#include <ATen/ATen.h>
#include <link.h>
#include <malloc.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/package.h>
#include <multipy/runtime/replicated_obj.h>
#include <pthread.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../soak/memory.h"

namespace {

namespace soak = multipy::soak;
using namespace multipy::runtime;

// For each interpreter that has ended, in bytes. An earlier torch leaves more: 195,000 were found
// with 2.6, 274,000 with 2.4.
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 9
constexpr double kAllocatedWithTorch = 320'000;
#else
constexpr double kAllocatedWithTorch = 160'000;
#endif
constexpr double kAllocatedBare = 6'000;
constexpr double kResidentWithTorch = 200'000;
constexpr double kResidentBare = 16'000;
// GNU readline's key tables, of which it frees none. CPython 3.13's pdb brings it, which torch
// imports.
constexpr double kReadline = 240'000;
// Resident memory is judged where there are more of them: malloc()'s heap finds its size first.
constexpr double kEnough = 200;

struct Options {
  std::string package;
  long cycles = 100;
  long interpreters = 2;
  long every = 10;
  long quietStart = 10;
  bool bare = false;
};

// --- what the process has

struct Held {
  soak::Footprint footprint;
  long allocated = 0;     // by malloc(), in use, in bytes
  long addressSpace = 0;  // bytes
  long keys = 0;
  long tlsModules = 0;
};

/// The footprint's memory is in 2 to the power of 20 bytes.
double bytes(double megabytes) { return megabytes * (1 << 20); }

long usedKeys() {
  std::vector<pthread_key_t> left;
  for (pthread_key_t key; ::pthread_key_create(&key, nullptr) == 0;) left.push_back(key);
  for (const pthread_key_t key : left) ::pthread_key_delete(key);
  return PTHREAD_KEYS_MAX - static_cast<long>(left.size());
}

long highestTlsModule() {
  long highest = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* highest) {
        auto& seen = *static_cast<long*>(highest);
        seen = std::max(seen, static_cast<long>(object->dlpi_tls_modid));
        return 0;
      },
      &highest);
  return highest;
}

Held look() {
  Held held;
  held.footprint = soak::footprint();
  std::ifstream("/proc/self/statm") >> held.addressSpace;
  held.addressSpace *= ::sysconf(_SC_PAGESIZE);
  const struct mallinfo2 heap = ::mallinfo2();
  held.allocated = static_cast<long>(heap.uordblks + heap.hblkhd);
  held.keys = usedKeys();
  held.tlsModules = highestTlsModule();
  return held;
}

void print(long cycle, const Held& held) {
  std::printf(
      "%6ld cycles: RSS %8.1f MB, malloc %8.1f MB, address space %6.1f GiB, %5ld mappings, "
      "%3ld threads, %3ld descriptors, %3ld keys, %3ld TLS modules\n",
      cycle, bytes(held.footprint.rss) / 1e6, held.allocated / 1e6,
      static_cast<double>(held.addressSpace) / (1L << 30), held.footprint.mappings,
      held.footprint.threads, held.footprint.descriptors, held.keys, held.tlsModules);
  std::fflush(stdout);
}

// --- one cycle

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("wrong answer: ") + what);
}

void bareCycle(const Options& options) {
  const InterpreterManager manager(options.interpreters);
  for (const auto& interpreter : manager.allInstances()) {
    auto session = interpreter.acquireSession();
    expect(session.global("operator", "mul")({6, 7}).toIValue().toInt() == 42, "6 * 7");
  }
}

bool readlineCame = false;

void useLibraries(const Interpreter& interpreter) {
  auto session = interpreter.acquireSession();
  const auto sum = session.global("recycled", "sums")({at::ones({8})});
  expect(sum.toIValue().toDouble() == 24, "numpy's and autograd's sum");
  readlineCame |= session.global("recycled", "has_readline")({}).toIValue().toBool();
}

constexpr const char* kRecycled = R"(
import sys, numpy, torch

def has_readline():
    return "readline" in sys.modules

def sums(x):
    x = x.clone().requires_grad_()
    (x * 2).sum().backward()
    return float(numpy.asarray(x.grad).sum() + x.detach().numpy().sum())
)";

void cycle(const Options& options) {
  InterpreterManager manager(options.interpreters);
  manager.registerModuleSource("recycled", kRecycled);
  const ReplicatedObj model = manager.loadPackage(options.package).loadPickle("model", "model.pkl");
  std::vector<std::thread> callers;
  std::exception_ptr failed[4];
  for (std::exception_ptr& error : failed)
    callers.emplace_back([&] {
      try {
        for (int i = 0; i < 4; ++i)
          expect(model({at::ones({10, 20})}).toTensor().defined(), "the model's");
      } catch (...) {
        error = std::current_exception();
      }
    });
  for (std::thread& caller : callers) caller.join();
  for (const std::exception_ptr& error : failed)
    if (error) std::rethrow_exception(error);
  for (const auto& interpreter : manager.allInstances()) useLibraries(interpreter);
}

// --- judging

bool within(const char* what, double found, double bound) {
  if (found <= bound) return true;
  std::printf("FAILED: %s: %.0f, expected at most %.0f\n", what, found, bound);
  return false;
}

bool judge(const Options& options, const Held& early, const Held& late) {
  const double ended =
      static_cast<double>((options.cycles - options.quietStart) * options.interpreters);
  const double resident = bytes(late.footprint.rss - early.footprint.rss) / ended;
  const double allocated = static_cast<double>(late.allocated - early.allocated) / ended;
  const double readline = readlineCame ? kReadline : 0;
  std::printf("stays of each interpreter: %.0f bytes of RSS, of which %.0f in use by malloc()\n",
              resident, allocated);
  bool good = within("bytes in use by malloc() for each interpreter", allocated,
                     options.bare ? kAllocatedBare : kAllocatedWithTorch + readline);
  if (ended >= kEnough)
    good &= within("bytes of RSS for each interpreter", resident,
                   options.bare ? kResidentBare : kResidentWithTorch + readline);
  // What rests until it is used again is there at some cycles and not at others.
  good &= within("mappings more", late.footprint.mappings - early.footprint.mappings, 400);
  good &= within("threads more", late.footprint.threads - early.footprint.threads, 0);
  good &=
      within("file descriptors more", late.footprint.descriptors - early.footprint.descriptors, 0);
  good &= within("thread keys more", late.keys - early.keys, 0);
  good &= within("modules with thread-local storage more", late.tlsModules - early.tlsModules, 2);
  // Slices rest (kRestingSlices of src/process/ownership.h).
  good &= within("GiB of address space more",
                 static_cast<double>(late.addressSpace - early.addressSpace) / (1L << 30), 70 * 32);
  return good;
}

Options read(int argc, char** argv) {
  Options options;
  const auto number = [&](int& i) {
    if (++i >= argc) throw std::invalid_argument(std::string(argv[i - 1]) + " needs a number");
    return std::stol(argv[i]);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--cycles")
      options.cycles = number(i);
    else if (word == "--interpreters")
      options.interpreters = number(i);
    else if (word == "--every")
      options.every = number(i);
    else if (word == "--quiet-start")
      options.quietStart = number(i);
    else if (word == "--bare")
      options.bare = true;
    else if (word.starts_with("--") || !options.package.empty())
      throw std::invalid_argument("unknown argument " + word);
    else
      options.package = word;
  }
  if (options.package.empty()) throw std::invalid_argument("the package is missing");
  if (options.interpreters < 1 || options.every < 1 || options.cycles <= options.quietStart)
    throw std::invalid_argument("expected more cycles than " + std::to_string(options.quietStart) +
                                ", and at least one interpreter");
  return options;
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = read(argc, argv);
  Held early, late;
  for (long done = 1; done <= options.cycles; ++done) {
    options.bare ? bareCycle(options) : cycle(options);
    if (done == options.quietStart) early = look();
    if (done == options.cycles) late = look();
    if (done % options.every == 0 || done == options.cycles) print(done, look());
  }
  return judge(options, early, late) ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "recycle: " << error.what() << '\n';
  return 2;
}
