// Threads of one interpreter that import parts of one package at once.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <multipy/runtime/interpreter_manager.h>

#include <string>

namespace multipy::runtime {
namespace {

// together("statement", ...) executes each in a thread of its own, all beginning at once, and
// returns what they raised, or the value of `result` in their namespaces, as texts.
constexpr const char* kTogether = R"(
import threading

def together(*texts):
    start = threading.Barrier(len(texts))
    outcomes = [None] * len(texts)
    def work(i):
        names = {}
        start.wait()
        try:
            exec(texts[i], names)
            outcomes[i] = str(names.get("result"))
        except BaseException as error:
            outcomes[i] = f"{type(error).__name__}: {error}"
    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(texts))]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return "; ".join(outcomes)
)";

class Imports : public testing::Test {
 protected:
  Imports() : manager_(1) { manager_.registerModuleSource("together", kTogether); }

  void module(const char* name, const char* source) { manager_.registerModuleSource(name, source); }

  template <typename... Texts>
  std::string together(Texts... texts) {
    auto session = manager_.acquireOne();
    return session.global("together", "together")({at::IValue(texts)...}).toIValue().toStringRef();
  }

  InterpreterManager manager_;
};

// `big` imports big.part while it is executed; its name is complete at the very end.
void makeBig(InterpreterManager& manager) {
  manager.registerModuleSource("big", R"(
import time
import big.early
time.sleep(0.1)
import big.part
time.sleep(0.1)
complete = True
)");
  manager.registerModuleSource("big.early", "name = 'early'\n");
  manager.registerModuleSource("big.part",
                               "import time\ntime.sleep(0.1)\nfrom big.early import name\n");
}

TEST_F(Imports, OfAPackageAndOfItsPartsGetAllOfIt) {
  makeBig(manager_);
  EXPECT_EQ(together("import big; result = big.complete", "import big.part; result = big.complete",
                     "from big import part; import big; result = big.complete",
                     "from big.part import name; import sys; result = sys.modules['big'].complete",
                     "import importlib; importlib.import_module('big.part'); import big; "
                     "result = big.complete"),
            "True; True; True; True; True");
}

// Finders are removed while other threads import: ours once torch is there, and those of packages
// (six, setuptools).
TEST_F(Imports, FindAModuleThoughAFinderIsRemovedMeanwhile) {
  EXPECT_EQ(together(R"(
import sys
from importlib.machinery import PathFinder

class Removed:
    @staticmethod
    def find_spec(name, path=None, target=None): return None

class Removing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if Removed in sys.meta_path: sys.meta_path.remove(Removed)

sys.meta_path.insert(0, Removed)
sys.meta_path.insert(sys.meta_path.index(PathFinder), Removing)
import colorsys
sys.meta_path.remove(Removing)
result = colorsys.__name__
)"),
            "colorsys");
}

TEST_F(Imports, OfAFinishedPartWaitForTheRestOfThePackage) {
  makeBig(manager_);
  EXPECT_EQ(together("import big; result = big.complete", R"(
import sys, time
while "big.early" not in sys.modules or not hasattr(sys.modules["big.early"], "name"): time.sleep(0.001)
from big.early import name
result = sys.modules["big"].complete
)"),
            "True; True");
}

TEST_F(Imports, OfPackagesThatImportEachOtherEnd) {
  module("left", "import time\ntime.sleep(0.05)\nimport right\nname = 'left'\n");
  module("right", "import time\ntime.sleep(0.05)\nimport left\nname = 'right'\n");
  EXPECT_EQ(together("import left; result = left.name", "import right; result = right.name"),
            "left; right");
}

// As email.utils, urllib.request and http.client do: no module imports itself by way of others, so
// that plain Python's threads get all of them whole.
TEST_F(Imports, OfPackagesInACircleWithoutModulesInOneGetAllOfThem) {
  module("mail", "");
  module("mail.policy", "import time\ntime.sleep(0.1)\nimport url.parse\nname = 'policy'\n");
  module("mail.parser", "from mail.policy import name\n");
  module("url", "");
  module("url.parse", "");
  module("url.request", "import web\nfrom mail.parser import name\n");
  module("web", "import time\ntime.sleep(0.2)\nimport mail.parser\n");
  EXPECT_EQ(
      together("from mail.policy import name as result", "from url.request import name as result",
               "import sys, web; result = sys.modules['mail.parser'].name"),
      "policy; policy; policy");
}

// From CPython 3.14.10 on an import of a part waits for a package that another thread executes, so
// this would wait for ever, as it does without multipy: there the thread imports another module.
TEST_F(Imports, WithinThreadsThatAModuleWaitsForEnd) {
  const bool partsWait = together(R"(
import importlib._bootstrap as bootstrap
result = "_initializing" in bootstrap._find_and_load_unlocked.__code__.co_consts)") == "True";
  const std::string part = partsWait ? "part" : "pool.part";
  const std::string pool = R"(
import threading
found = []
def work():
    from )" + part + R"( import name
    found.append(name)
thread = threading.Thread(target=work)
thread.start()
thread.join()
)";
  module("pool", pool.c_str());
  module(part.c_str(), "name = 'part'\n");
  EXPECT_EQ(together("import pool; result = pool.found", "import pool; result = pool.found"),
            "['part']; ['part']");
}

TEST_F(Imports, OfOtherPackagesDoNotWait) {
  module("slow", R"(
import threading
entered = threading.Event()
proceed = threading.Event()
import sys
sys.slow = (entered, proceed)
entered.set()
assert proceed.wait(60)
)");
  module("quick", "name = 'quick'\n");
  EXPECT_EQ(together("import slow; result = 'slow'", R"(
import sys, time
while not hasattr(sys, "slow"): time.sleep(0.001)
entered, proceed = sys.slow
entered.wait()
import quick
proceed.set()
result = quick.name
)"),
            "slow; quick");
}

TEST_F(Imports, ThatFailAreTriedAgainByThoseThatWaited) {
  module("failing", R"(
import builtins, time
builtins.attempts = getattr(builtins, "attempts", 0) + 1
time.sleep(0.05)
if builtins.attempts < 3: raise ValueError(f"attempt {builtins.attempts}")
)");
  const std::string outcome =
      together("import failing; result = 'there'", "import failing; result = 'there'",
               "import failing; result = 'there'");
  for (const char* part : {"ValueError: attempt 1", "ValueError: attempt 2", "there"})
    EXPECT_NE(outcome.find(part), std::string::npos) << outcome;
}

TEST_F(Imports, WithinAFinderDoNotHoldUpOthers) {
  module("finders", R"(
import sys, time
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "sought": import helper.part  # with the lock of all imports
sys.meta_path.insert(0, Finder)
)");
  module("sought", "name = 'sought'\n");
  module("helper",
         "import time\ntime.sleep(0.1)\nimport helper.part, helper.other\ntime.sleep(0.1)\n");
  module("helper.part", "import time\ntime.sleep(0.1)\nname = 'part'\n");
  module("helper.other", "name = 'other'\n");
  together("import finders");
  EXPECT_EQ(
      together("import helper; result = helper.part.name", "import sought; result = sought.name",
               "import helper.other; result = helper.other.name"),
      "part; sought; other");
}

// linecache and what it imports take longer than many a module.
TEST_F(Imports, OfRegisteredModulesWaitWithTheirLinesForLinecache) {
  module("lines", "first = 1\ndef fail():\n    return 1 / 0\n");
  EXPECT_EQ(
      together("import lines, sys; result = 'linecache' in sys.modules or 'enum' in sys.modules"),
      "False");
  EXPECT_EQ(together(R"(
import traceback, lines, sys
try:
    lines.fail()
except ZeroDivisionError:
    result = "return 1 / 0" in traceback.format_exc() and sys.modules["linecache"].cache[lines.__file__][2][0]
)"),
            "first = 1\n");
}

// While torch is imported, the finder of registered modules looks at linecache: at what is there,
// since another thread's import of linecache may need what this thread is importing.
TEST_F(Imports, OfLinecacheAreNotWaitedForByTheFinder) {
  module("shared", "import threading\nbegun = threading.Event()\nlooked = threading.Event()\n");
  EXPECT_EQ(together(R"(
import linecache, shared, sys
from importlib.machinery import ModuleSpec

class Slow:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return ModuleSpec(name, Slow) if name == "linecache" else None
    @staticmethod
    def create_module(spec): return None
    @staticmethod
    def exec_module(module):
        shared.begun.set()
        module.was_looked_at = shared.looked.wait(10)

real = sys.modules.pop("linecache")
sys.meta_path.insert(0, Slow)
import linecache
result = linecache.was_looked_at
sys.meta_path.remove(Slow)
sys.modules["linecache"] = real
)",
                     R"(
import _multipy_host, shared
shared.begun.wait()
_multipy_host.forget_source_lines()
shared.looked.set()
)"),
            "True; None");
}

TEST_F(Imports, GoOnInAForkedChildWhileTheParentImports) {
  module("held", R"(
import sys, threading
entered, proceed = threading.Event(), threading.Event()
sys.held = (entered, proceed)
entered.set()
assert proceed.wait(60)
)");
  module("outer", "__path__ = []\n");
  module("outer.held", "import held\n");
  module("outer.free", "name = 'free'\n");
  EXPECT_EQ(together("import outer.held; result = 'held'", R"(
import os, signal, sys, time, warnings
warnings.simplefilter("ignore")
while not hasattr(sys, "held"): time.sleep(0.001)
entered, proceed = sys.held
entered.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)
    try:
        import outer.free
        os._exit(7 if outer.free.name == 'free' else 1)
    finally:
        os._exit(2)
result = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
proceed.set()
)"),
            "held; 7");
}

TEST_F(Imports, RaiseWhatPlainPythonRaises) {
  module("raising", "raise ValueError('of its own')\n");
  EXPECT_EQ(together("import raising", "import nowhere.at.all", "import math.nothing",
                     "from .relative import name"),
            "ValueError: of its own; ModuleNotFoundError: No module named 'nowhere'; "
            "ModuleNotFoundError: No module named 'math.nothing'; 'math' is not a package; "
            "KeyError: \"'__name__' not in globals\"");
}

}  // namespace
}  // namespace multipy::runtime
