#include "torch_bridge/state/thread_numbers.h"

#include <ATen/Parallel.h>

#include <atomic>

#include "abi/torch_routes.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

PerInterpreter<std::atomic<int>>& numbers() {
  static auto* const all = new PerInterpreter<std::atomic<int>>{};
  return *all;
}

// 0: none of its own.
int numberOf(InterpreterId slot) { return slot.isInterpreter() ? numbers()[slot].load() : 0; }

// torch may be built without OpenMP or without MKL: null.
struct Originals {
  void (*init)() = torchFunction<void()>(initNumThreadsSymbol());
  void (*setOpenMp)(int) = findTorchFunction<void(int)>("omp_set_num_threads");
  int (*setMkl)(int) = findTorchFunction<int(int)>("MKL_Set_Num_Threads_Local");
  void (*setMklDynamic)(int) = findTorchFunction<void(int)>("MKL_Set_Dynamic");

  static const Originals& all() {
    static const Originals all;
    return all;
  }
};

// ------------------------------------------------------- the calling thread's

// What it had before it got an interpreter's.
struct OwnNumber {
  int openMp = 0;  // 0: it has its own now
  int mkl = 0;     // 0 is MKL's for "that of the process"
};
thread_local OwnNumber own;
thread_local bool askingForOwn = false;

// `number` 0: its own again.
void give(int number) {
  const Originals& torchs = Originals::all();
  if (!torchs.setOpenMp) return;
  if (number == 0) {
    if (own.openMp == 0) return;
    torchs.setOpenMp(own.openMp);
    if (torchs.setMkl) torchs.setMkl(own.mkl);
    own = {};
    return;
  }
  const bool first = own.openMp == 0;
  if (first) {
    // (If the thread has not computed yet, this lets torch set it up: see initCurrent().)
    askingForOwn = true;
    own.openMp = at::get_num_threads();
    askingForOwn = false;
  }
  torchs.setOpenMp(number);
  const int before = torchs.setMkl ? torchs.setMkl(number) : 0;
  if (first) own.mkl = before;
}

// The calling thread is in this interpreter from now on (InterpreterId::none(): in none).
void follow(InterpreterId slot) noexcept { give(numberOf(slot)); }

// ------------------------------------------------------- the routes

// In torch's shared libraries, once for each thread.
void initCurrent() {
  const int number = askingForOwn ? 0 : numberOf(process::Ownership::entered());
  number > 0 ? give(number) : Originals::all().init();
}

// In private libraries: once for each thread and library, as each has its own note that
// this was done. A thread that torch has set up is left as it is.
void init(InterpreterId slot) {
  if (const int number = numberOf(slot)) return give(number);
  at::get_num_threads();
}

void set(InterpreterId slot, int number) {
  TORCH_CHECK(number > 0, "Expected positive number of threads");
  if (!slot.isInterpreter()) return;  // no thread is ever in the resident copy
  const Originals& torchs = Originals::all();
  TORCH_CHECK_NOT_IMPLEMENTED(
      torchs.setOpenMp,
      "setting the number of threads in an interpreter: this build of torch "
      "has no OpenMP; set it from C++, for the process");
  numbers()[slot] = number;
  process::Ownership::onSetCurrent(follow);
  // MKL is to take numbers as they are, and not as the most that it may use.
  if (torchs.setMklDynamic) torchs.setMklDynamic(0);
  give(number);
}

}  // namespace

void addThreadNumberRoutes(TorchRoutes& routes) {
  routes.setNumThreads = set;
  routes.initNumThreads = init;
}

ImportRedirections threadNumberRedirections() {
  Originals::all();  // found before we take their place
  return {redirection(initNumThreadsSymbol(), initCurrent)};
}

void purgeThreadNumber(InterpreterId slot) {
  if (slot.isInterpreter()) numbers()[slot] = 0;
}

}  // namespace multipy::bridge
