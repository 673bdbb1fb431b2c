// What extensions initialise once, with Python code that imports.
#include <gtest/gtest.h>
#include <multipy/runtime/interpreter_manager.h>

#include <string>

namespace multipy::runtime {
namespace {

// Two threads: the one that imports `big` holds its gate and comes to the initialiser that the
// other one runs, which imports big.part.
constexpr const char* kMeeting = R"(
import importlib, sys, threading

executing, initializing = threading.Event(), threading.Event()
seen = []

def initialize():
    initializing.set()
    seen.append(importlib.import_module("big.part").name)
    return "initialized"

def meet(folder, function):
    sys.path.insert(0, folder)
    import once_module
    meet.once = getattr(once_module, function)

    def imports():
        import big
        seen.append(big.got)
    def initializes():
        executing.wait()
        seen.append(meet.once(initialize))
    threads = [threading.Thread(target=imports), threading.Thread(target=initializes)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return " ".join(sorted(seen))
)";
constexpr const char* kBig = R"(
import meeting

meeting.executing.set()
meeting.initializing.wait()
got = meeting.meet.once(None)
)";

constexpr const char* kRaising = R"(
import sys

def raise_first(folder, function):
    sys.path.insert(0, folder)
    import once_module
    once = getattr(once_module, function)
    try:
        once(lambda: 1 // 0)
    except ZeroDivisionError:
        return once(lambda: "second") + " " + once(lambda: "third")
)";

class Once : public testing::TestWithParam<const char*> {
 protected:
  Once() : manager_(1) {
    manager_.registerModuleSource("meeting", kMeeting);
    manager_.registerModuleSource("big", kBig);
    manager_.registerModuleSource("big.part", "name = 'part'\n");
    manager_.registerModuleSource("raising", kRaising);
  }

  std::string call(const char* module, const char* function) {
    auto session = manager_.acquireOne();
    return session.global(module, function)({MULTIPY_TEST_ONCE_FOLDER, GetParam()})
        .toIValue()
        .toStringRef();
  }

  InterpreterManager manager_;
};

TEST_P(Once, AnInitializerMayImportWhatAnImportThatWaitsForItHolds) {
  EXPECT_EQ(call("meeting", "meet"), "initialized initialized part");
}

TEST_P(Once, AnInitializerThatRaisesIsFollowedByTheNext) {
#ifdef __SANITIZE_THREAD__
  if (GetParam() == std::string("by_call_once"))
    GTEST_SKIP() << "ThreadSanitizer has a pthread_once() of its own, which waits for ever for "
                    "an initialiser that has thrown";
#endif
  EXPECT_EQ(call("raising", "raise_first"), "second second");
}

INSTANTIATE_TEST_SUITE_P(Functions, Once, testing::Values("by_call_once", "as_static"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace multipy::runtime
