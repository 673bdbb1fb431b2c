#include "process/fork_handlers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/interpreter_id.h"
#include "process/ownership.h"

namespace multipy::process {
namespace {

std::string called;

template <char name>
void note() {
  called += name;
}

class ForkHandlersTest : public testing::Test {
 protected:
  ForkHandlersTest() {
    setForkHandlers(first, {note<'p'>, note<'a'>, note<'c'>});
    setForkHandlers(second, {note<'P'>, note<'A'>, note<'C'>});
  }
  ~ForkHandlersTest() override {
    for (const InterpreterId slot : {first, second}) {
      setForkHandlers(slot, {});
      Ownership::instance().release(slot);
    }
  }

  // A thread that is in `slot` forks: what has been called in the parent and in the child.
  static void expectCalled(InterpreterId slot, const std::string& inParent,
                           const std::string& inChild) {
    called.clear();
    std::thread([&] {
      Ownership::setCurrent(slot);
      const pid_t child = ::fork();
      if (child == 0) ::_exit(called == inChild ? 0 : 1);
      int status = -1;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
      EXPECT_EQ(called, inParent);
    }).join();
  }

  const InterpreterId first = Ownership::instance().admit();
  const InterpreterId second = Ownership::instance().admit();
};

TEST_F(ForkHandlersTest, ThoseOfTheInterpreterThatTheThreadIsIn) {
  expectCalled(first, "pa", "pc");
  expectCalled(second, "PA", "PC");
  expectCalled(InterpreterId::none(), "", "");
  expectCalled(InterpreterId::resident(), "", "");
  expectCalled(InterpreterId::program(), "", "");
}

TEST_F(ForkHandlersTest, TheNextInterpretersInPlaceOfThoseBefore) {
  setForkHandlers(first, {note<'x'>, nullptr, note<'z'>});
  expectCalled(first, "x", "xz");
  setForkHandlers(first, {});
  expectCalled(first, "", "");
}

TEST_F(ForkHandlersTest, NoneOfWhatIsNoInterpreter) {
  for (const InterpreterId slot : {InterpreterId::none(), InterpreterId::resident()}) {
    setForkHandlers(slot, {note<'x'>, note<'y'>, note<'z'>});
    expectCalled(slot, "", "");
  }
}

}  // namespace
}  // namespace multipy::process
