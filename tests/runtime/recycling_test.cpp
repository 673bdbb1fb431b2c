// What stays of an interpreter that has ended, where C variables still refer to its objects.
// (How much memory stays over many of them: tests/reliability/recycle.cpp.)
#include <ATen/Functions.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

// keep(): C code has a reference that it never gives up.
constexpr const char* kKeeping = R"(
import ctypes, sys, weakref

def keep(value):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))

class Noisy:
    def __init__(self, value=None): self.value = value
    def __del__(self): print("deleted", self.value, file=sys.__stderr__)

def noticed(reference): print("noticed", reference, file=sys.__stderr__)

class Chain:
    __slots__ = "next", "references", "__weakref__"

def keep_noisy():
    first, second = Chain(), Chain()
    first.next, second.next = second, Noisy(first)
    first.references = [weakref.ref(second, noticed), weakref.finalize(second.next, noticed, 1)]
    first.references[1].atexit = False
    keep(first)
    keep(noticed)
    keep(Chain)
    keep([second, {Noisy: first}])

def keep_what_is_torchs(x):
    import torch
    class Model(torch.nn.Module):
        member = x
        def __init__(self):
            super().__init__()
            self.x = x
    keep(Model)
    keep(Model())
    keep(vars(torch.nn.functional))
    torch.nn.functional.kept = [x]
    torch.nn.ReLU.kept = x

def keep_in_a_list(x): keep([x])
)";

TEST(Recycling, TensorsThatCVariablesReachThroughTorchAreFreed) {
  const at::Tensor x = at::ones({1000});
  const auto before = x.storage().use_count();
  {
    InterpreterManager manager(2);
    manager.registerModuleSource("keeping", kKeeping);
    for (const auto& interpreter : manager.allInstances()) {
      auto session = interpreter.acquireSession();
      session.global("keeping", "keep_what_is_torchs")({x});
    }
    EXPECT_GT(x.storage().use_count() + x.use_count(), before + 1);
  }
  EXPECT_EQ(x.storage().use_count(), before);
  EXPECT_EQ(x.use_count(), 1u);
}

// Other libraries need not bear what no other program does to them.
TEST(Recycling, WhatIsNotTorchsStaysAsItIs) {
  const at::Tensor x = at::ones({1000});
  const auto before = x.storage().use_count() + x.use_count();
  {
    InterpreterManager manager(1);
    manager.registerModuleSource("keeping", kKeeping);
    manager.acquireOne().global("keeping", "keep_in_a_list")({x});
  }
  EXPECT_GT(x.storage().use_count() + x.use_count(), before);
}

// torch's own types are not made for it.
TEST(Recycling, TensorsOfPythonClassesThatCxxHasAreLeftAsTheyAre) {
  at::Tensor kept;
  {
    InterpreterManager manager(1);
    manager.registerModuleSource("keeping", std::string(kKeeping) + R"(
import torch
class Own(torch.Tensor):
    pass
def make():
    own = torch.ones(2).as_subclass(Own)
    own.attribute = [own]
    keep(own)
    return own
)");
    kept = manager.acquireOne().global("keeping", "make")({}).toIValue().toTensor();
  }
  EXPECT_EQ(kept.sum().item<float>(), 2);
}

// The thread has them until it ends, or until another interpreter sets them.
TEST(Recycling, AThreadMayKeepObjectsThatPythonCodeHasLeftInIt) {
  std::thread([] {
    for (int i = 0; i < 2; ++i) {
      InterpreterManager manager(1);
      manager.registerModuleSource("leaving", R"(
import torch
class Left: pass
def leave(): torch._C._stash_obj_in_tls("multipy's test", Left())
)");
      manager.acquireOne().global("leaving", "leave")({});
    }
  }).join();
}

// Python has ended when a library's static variables are destroyed.
TEST(Recycling, ALibraryMayGiveUpItsLastReferenceAsItEnds) {
  InterpreterManager manager(1);
  manager.registerModuleSource("late", R"(
import sys
class Kept:
    pass
def keep(folder):
    sys.path.insert(0, folder)
    import keeping_module
    kept = Kept()
    kept.itself = [kept]
    keeping_module.keep(kept)
    keeping_module.keep({"only": Kept()})
)");
  manager.acquireOne().global("late", "keep")({MULTIPY_TEST_KEEPING_FOLDER});
}

// Python code that would find its modules gone is not run.
TEST(Recycling, NothingIsCalledOrPrintedAtTheLast) {
  testing::internal::CaptureStderr();
  {
    InterpreterManager manager(2);
    manager.registerModuleSource("keeping", kKeeping);
    for (const auto& interpreter : manager.allInstances())
      interpreter.acquireSession().global("keeping", "keep_noisy")({});
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// A thread that is left may come to what it uses.
TEST(Recycling, WhatARemainingThreadUsesStays) {
  {
    InterpreterManager manager(1);
    manager.registerModuleSource("blocked", R"(
import os, threading
def begin():
    read, write = os.pipe()
    buffer = bytearray(1 << 20)
    def fill():
        with open(read, "rb", buffering=0) as pipe: pipe.readinto(buffer)
    threading.Thread(target=fill, daemon=True).start()
    return write
)");
    auto session = manager.acquireOne();
    const int write = static_cast<int>(session.global("blocked", "begin")({}).toIValue().toInt());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::thread([write] {
      std::this_thread::sleep_for(std::chrono::milliseconds(700));
      const std::string text(1 << 16, 'x');
      EXPECT_EQ(::write(write, text.data(), text.size()), static_cast<ssize_t>(text.size()));
      ::close(write);
    }).detach();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  EXPECT_EQ(InterpreterManager(1).acquireOne().fromIValue(1).toIValue().toInt(), 1);
}

// A thread that ends gives back its state without the GIL, while the interpreter may be about to
// end.
TEST(Recycling, MemoryMayBeFreedWithoutTheGilAsAnInterpreterEnds) {
  constexpr std::size_t kLarge = 4000;  // free() ends the process if it is not malloc()'s
  for (int i = 0; i < 100; ++i) {
    auto manager = std::make_unique<InterpreterManager>(1);
    manager->registerModuleSource("addresses", R"(
import ctypes
def address(name): return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
)");
    void* (*allocate)(std::size_t) = nullptr;
    void (*release)(void*) = nullptr;
    {
      auto session = manager->acquireOne();
      const auto address = [&](const char* name) {
        return session.global("addresses", "address")({name}).toIValue().toInt();
      };
      allocate = reinterpret_cast<decltype(allocate)>(address("PyMem_RawMalloc"));
      release = reinterpret_cast<decltype(release)>(address("PyMem_RawFree"));
    }
    Dl_info library{};
    ASSERT_NE(::dladdr(reinterpret_cast<void*>(allocate), &library), 0);
    void* const stays = ::dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(stays, nullptr) << library.dli_fname;
    {
      std::jthread thread([&](std::stop_token stop) {
        while (!stop.stop_requested()) release(allocate(kLarge));
      });
      manager.reset();
    }
    ::dlclose(stays);
  }
}

}  // namespace
}  // namespace multipy::runtime
