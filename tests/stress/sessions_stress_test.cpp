// Sessions of many interpreters held by many threads, crosswise; Objs that die on
// other threads; exceptions everywhere. Nothing may deadlock, mix up or leak.
#include <gtest/gtest.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/obj.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "together.h"

namespace multipy::stress {
namespace {

using runtime::InterpreterManager;
using runtime::Obj;
using runtime::PythonException;

constexpr int kInterpreters = 4;

// No torch here: these tests are about sessions, and start in milliseconds.
constexpr const char* kModule = R"(
class Counted:
    live = 0

    def __init__(self, number):
        Counted.live += 1
        self.number = number

    def __del__(self):
        Counted.live -= 1

    def plus(self, other):
        return Counted(self.number + other)

def live():
    import gc
    gc.collect()
    return Counted.live

def fail(text):
    raise ValueError(text)

def add(a, b):
    return a + b
)";

class SessionsStress : public testing::Test {
 protected:
  SessionsStress() : manager_(kInterpreters) {
    manager_.registerModuleSource("sessions_stress", kModule);
  }

  int64_t liveIn(int interpreter) {
    auto session = manager_.allInstances()[interpreter].acquireSession();
    return session.global("sessions_stress", "live")({}).toIValue().toInt();
  }

  InterpreterManager manager_;
};

TEST_F(SessionsStress, SessionsHeldCrosswise) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 1500;
  std::atomic<int> wrong = 0;
  together(kThreads, [&](int thread) {
    std::mt19937 random(thread);
    for (int round = 0; round < kRounds; ++round) {
      const int a = static_cast<int>(random() % kInterpreters);
      const int b = static_cast<int>((a + 1 + random() % (kInterpreters - 1)) % kInterpreters);
      auto first = manager_.allInstances()[a].acquireSession();
      auto addFirst = first.global("sessions_stress", "add");
      auto second = manager_.allInstances()[b].acquireSession();
      auto addSecond = second.global("sessions_stress", "add");
      const int64_t x = addFirst({thread, round}).toIValue().toInt();
      const int64_t y = addSecond({x, 1}).toIValue().toInt();
      const int64_t z = addFirst({y, 1}).toIValue().toInt();
      if (z != thread + round + 2) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_F(SessionsStress, ManySessionsOfOneInterpreterDoNotStarve) {
  constexpr int kThreads = 8;
  std::atomic<int> answered = 0;
  together(kThreads, [&](int thread) {
    auto session = manager_.allInstances()[0].acquireSession();
    auto add = session.global("sessions_stress", "add");
    // All eight sessions are alive at once from here on: none waits for the
    // end of another's.
    ++answered;
    EXPECT_TRUE(soon([&] { return answered >= kThreads; }));
    for (int i = 0; i < 500; ++i) EXPECT_EQ(add({thread, i}).toIValue().toInt(), thread + i);
  });
}

/// A place where threads leave Objs for others to drop.
class Exchange {
 public:
  /// Puts `obj` into place `where` and drops what was there on this thread.
  void put(std::size_t where, Obj obj) {
    std::optional<Obj> old(std::move(obj));
    const std::lock_guard lock(mutex_);
    std::swap(places_[where % places_.size()], old);
  }
  void clear() {
    for (auto& place : places_) place.reset();
  }

 private:
  std::mutex mutex_;
  std::vector<std::optional<Obj>> places_ = std::vector<std::optional<Obj>>(64);
};

TEST_F(SessionsStress, ObjsDroppedOnOtherThreadsAreFreed) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 1000;
  Exchange exchange;
  together(kThreads, [&](int thread) {
    std::mt19937 random(thread);
    for (int round = 0; round < kRounds; ++round) {
      auto session = manager_.allInstances()[random() % kInterpreters].acquireSession();
      auto object = session.global("sessions_stress", "Counted")({round});
      auto next = object.attr("plus")({thread});
      EXPECT_EQ(next.attr("number").toIValue().toInt(), round + thread);
      exchange.put(random(), std::move(object));
      exchange.put(random(), std::move(next));
    }
  });
  int64_t live = 0;
  for (int i = 0; i < kInterpreters; ++i) live += liveIn(i);
  EXPECT_GT(live, 0);  // those in the exchange
  exchange.clear();
  for (int i = 0; i < kInterpreters; ++i)
    EXPECT_TRUE(soon([&] { return liveIn(i) == 0; }))
        << "interpreter " << i << " has " << liveIn(i);
}

TEST_F(SessionsStress, ExceptionsFromManyThreadsKeepTheirText) {
  constexpr int kThreads = 12;
  constexpr int kRounds = 800;
  std::atomic<int> caught = 0;
  together(kThreads, [&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      auto session = manager_.acquireOne();
      const std::string text = std::to_string(thread) + "/" + std::to_string(round);
      try {
        session.global("sessions_stress", "fail")({text});
        ADD_FAILURE() << "no exception for " << text;
      } catch (const PythonException& error) {
        EXPECT_EQ(error.type(), "ValueError");
        EXPECT_EQ(error.message(), text);
        EXPECT_NE(error.traceback().find("raise ValueError(text)"), std::string::npos);
        ++caught;
      }
      EXPECT_EQ(session.global("sessions_stress", "add")({round, 1}).toIValue().toInt(), round + 1);
    }
  });
  EXPECT_EQ(caught, kThreads * kRounds);
}

TEST_F(SessionsStress, AnExceptionInOneInterpreterLeavesTheOtherSessionUsable) {
  together(6, [&](int thread) {
    auto first = manager_.allInstances()[thread % kInterpreters].acquireSession();
    auto second = manager_.allInstances()[(thread + 1) % kInterpreters].acquireSession();
    for (int round = 0; round < 300; ++round) {
      EXPECT_THROW(first.global("sessions_stress", "fail")({round}), PythonException);
      EXPECT_EQ(second.global("sessions_stress", "add")({round, 2}).toIValue().toInt(), round + 2);
    }
  });
}

}  // namespace
}  // namespace multipy::stress
