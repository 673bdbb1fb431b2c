// What one interpreter has of its own: arguments, environment variables, output.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/interpreter_id.h"
#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "runtime/environment/python_installation.h"
#include "runtime/interpreter/output_lines.h"

namespace multipy::runtime {
namespace {

using testing_support::expectError;

const std::vector<Obj> noObjects;

void run(const InterpreterSession& I, const std::string& source) {
  I.global("builtins", "exec")({I.fromIValue(source), I.global("builtins", "dict")(noObjects)});
}

std::string text(const InterpreterSession& I, const std::string& expression) {
  const Obj names = I.global("builtins", "dict")(noObjects);
  return I.global("builtins", "eval")({I.fromIValue("str(" + expression + ")"), names})
      .toIValue()
      .toStringRef();
}

// --- arguments

TEST(Arguments, OfEachInterpreter) {
  InterpreterManagerOptions options;
  options.interpreters.arguments = {"program"};
  options.adjust = [](std::size_t index, InterpreterOptions& one) {
    if (index > 0) one.arguments.push_back("--rank=" + std::to_string(index));
  };
  InterpreterManager manager(3, options);
  const char* expected[] = {"['program']", "['program', '--rank=1']", "['program', '--rank=2']"};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(text(manager.allInstances()[i].acquireSession(), "__import__('sys').argv"),
              expected[i]);
}

TEST(Arguments, NoneAreAsInPlainPython) {
  const Interpreter alone(std::make_shared<NoopEnvironment>());
  EXPECT_EQ(text(alone.acquireSession(), "__import__('sys').argv"), "['']");
}

TEST(Arguments, AreNotPythonsOwn) {
  InterpreterOptions options;
  options.arguments = {"x", "-c", "import os; os._exit(1)", "\xff"};
  const Interpreter alone(std::make_shared<NoopEnvironment>(), options);
  EXPECT_EQ(text(alone.acquireSession(), "__import__('sys').argv"),
            "['x', '-c', 'import os; os._exit(1)', '\\udcff']");
}

TEST(Arguments, ThatWouldBeCutAreRefused) {
  InterpreterManagerOptions options;
  options.interpreters.arguments = {"program", std::string("--name=a\0b", 10)};
  expectError<InvalidArgument>([&] { InterpreterManager manager(1, options); },
                               {"--name=a", "null character"});
}

// --- python's options

TEST(PythonOptions, AreAsOnItsCommandLine) {
  InterpreterManagerOptions options;
  options.interpreters.pythonOptions = {
      "-OOsB", "-W",  "error::UserWarning", "-Wignore::ImportWarning", "-b",
      "-X",    "dev", "-Xno_debug_ranges"};
  options.interpreters.arguments = {"program", "-v"};
  InterpreterManager manager(1, options);
  const auto I = manager.acquireOne();
  const auto flag = [&](const std::string& name) {
    return text(I, "__import__('sys').flags." + name);
  };
  EXPECT_EQ(flag("optimize"), "2");
  EXPECT_EQ(flag("no_user_site"), "1");
  EXPECT_EQ(flag("dont_write_bytecode"), "1");
  EXPECT_EQ(flag("bytes_warning"), "1");
  EXPECT_EQ(flag("dev_mode"), "True");
  EXPECT_EQ(flag("verbose"), "0");
  EXPECT_EQ(text(I, "__import__('sys')._xoptions"), "{'dev': True, 'no_debug_ranges': True}");
  for (const std::string warning : {"error::UserWarning", "ignore::ImportWarning"})
    EXPECT_EQ(text(I, "'" + warning + "' in __import__('sys').warnoptions"), "True");
  EXPECT_EQ(text(I, "__import__('sys').argv"), "['program', '-v']");
  run(I, R"(
import warnings
try:
    warnings.warn("is an error")
    raise SystemError("was none")
except UserWarning:
    pass
exec("assert False, 'is left out'")
import torch
assert torch.ones(2).sum() == 2
)");
}

TEST(PythonOptions, ThatAreNotTakenAreRefused) {
  const auto refused = [](const std::vector<std::string>& given, const std::string& why,
                          const std::string& expected) {
    InterpreterManagerOptions options;
    options.interpreters.pythonOptions = given;
    expectError<InvalidArgument>([&] { InterpreterManager manager(1, options); },
                                 {"InterpreterOptions::pythonOptions", why, expected});
  };
  refused({"-O", "-c"}, "'-c' is not taken", "-W or -X");
  refused({"-OS"}, "'-OS' is not taken", "-W or -X");
  refused({"-I"}, "'-I' is not taken", "InterpreterOptions::isolated");
  refused({"script.py"}, "'script.py' is no option", "one like -O");
  refused({"-"}, "'-' is no option", "one like -O");
  refused({"-O", "-BW"}, "'-BW' has no argument", "behind it");
  refused({"-X", std::string("dev\0x", 5)}, "'dev'", "null character");
}

TEST(SlimNames, ThatNoModuleCanHaveAreRefused) {
  InterpreterManagerOptions options;
  options.interpreters.slimImporters = {"good", "my-package"};
  expectError<InvalidArgument>([&] { InterpreterManager manager(1, options); },
                               {"slimImporters", "my-package"});
  options.interpreters.slimImporters = {"good"};
  options.interpreters.slimModules = {"good.", ""};
  expectError<InvalidArgument>([&] { InterpreterManager manager(1, options); },
                               {"slimModules", "good."});
}

TEST(Arguments, WhatAdjustThrowsUndoesEverything) {
  InterpreterManagerOptions options;
  options.adjust = [](std::size_t index, InterpreterOptions&) {
    if (index == 1) throw std::runtime_error("not this one");
  };
  EXPECT_THROW(InterpreterManager(2, options), std::runtime_error);
}

// --- environment variables

class Variables : public testing::Test {
 protected:
  static InterpreterManagerOptions own() {
    InterpreterManagerOptions options;
    options.adjust = [](std::size_t index, InterpreterOptions& one) {
      one.environmentVariables =
          std::map<std::string, std::string>{{"WHOSE", "interpreter " + std::to_string(index)},
                                             {"PATH", ::getenv("PATH")},
                                             {"EMPTY", ""}};
    };
    return options;
  }
};

TEST_F(Variables, AreEachInterpretersOwn) {
  ::setenv("WHOSE", "the process", 1);
  InterpreterManager manager(2, own());
  for (int i = 0; i < 2; ++i) {
    const auto I = manager.allInstances()[i].acquireSession();
    const std::string name = "interpreter " + std::to_string(i);
    EXPECT_EQ(text(I, "__import__('os').environ['WHOSE']"), name);
    EXPECT_EQ(text(I, "sorted(__import__('os').environ)"), "['EMPTY', 'PATH', 'WHOSE']");
    run(I,
        "import os; os.environ['WHOSE'] += ' changed'; os.environ['NEW'] = '1'; del "
        "os.environ['EMPTY']");
    EXPECT_EQ(text(I, "__import__('os').getenv('WHOSE')"), name + " changed");
  }
  EXPECT_STREQ(::getenv("WHOSE"), "the process");
  EXPECT_EQ(::getenv("NEW"), nullptr);
}

TEST_F(Variables, AreInheritedByChildren) {
  InterpreterManager manager(1, own());
  const auto I = manager.acquireOne();
  run(I, R"(
import multiprocessing, os, subprocess, sys
os.environ['NEW'] = 'new'
del os.environ['EMPTY']
ask = [sys.executable, '-c', 'import os; print(sorted(v for v in os.environ if v in ("WHOSE", "NEW", "EMPTY")))']
expected = "['NEW', 'WHOSE']"
found = subprocess.check_output(ask, text=True).strip()
assert found == expected, found
with os.popen('echo $WHOSE, $NEW') as output:
    found = output.read().strip()
assert found == 'interpreter 0, new', found
assert os.system('test "$NEW" = new') == 0
assert os.waitstatus_to_exitcode(os.system('exit 7')) == 7
assert os.spawnv(os.P_WAIT, '/bin/sh', ['sh', '-c', 'test "$WHOSE" = "interpreter 0"']) == 0
for method in ('spawn', 'forkserver'):
    with multiprocessing.get_context(method).Pool(1) as pool:
        found = pool.apply(os.getenv, ('WHOSE',))
    assert found == 'interpreter 0', found
if hasattr(os, 'reload_environ'):
    os.reload_environ()
    assert os.environ['NEW'] == 'new' and 'EMPTY' not in os.environ, os.environ
)");
}

TEST_F(Variables, AreSeenByPrivateLibraries) {
  InterpreterManager manager(1, own());
  const auto I = manager.acquireOne();
  // libc is shared; _ctypes, through which pythonapi is found, is private.
  run(I, R"(
import ctypes, os
os.environ['NEW'] = 'new'
find = ctypes.PyDLL(None).multipy_getenv
find.restype = ctypes.c_char_p
assert find(b'NEW') == b'new', find(b'NEW')
assert find(b'HOME') is None, find(b'HOME')
)");
}

// All the ways that C code has to read and change them, or to start a program with them.
TEST_F(Variables, AreThoseOfCCode) {
  ::setenv("WHOSE", "the process", 1);
  InterpreterManager manager(1, own());
  const auto I = manager.acquireOne();
  run(I, R"(
import ctypes, os, shutil, tempfile
c = ctypes.CDLL(None)
c.getenv.restype = c.secure_getenv.restype = ctypes.c_char_p
assert c.getenv(b'WHOSE') == c.secure_getenv(b'WHOSE') == b'interpreter 0'
# (A jemalloc's, which is to begin no thread.)
assert c.getenv(b'JE_X_MALLOC_CONF') == c.secure_getenv(b'JE_X_MALLOC_CONF') == b'background_thread:false'
os.environ['JE_X_MALLOC_CONF'] = 'narenas:1'
assert c.getenv(b'JE_X_MALLOC_CONF') == b'background_thread:false,narenas:1'
del os.environ['JE_X_MALLOC_CONF']
kept = ctypes.create_string_buffer(b'PUT=yes')
assert c.putenv(kept) == 0 and c.getenv(b'PUT') == b'yes'
def exec_in_child(function, *words):
    child = os.fork()
    if child == 0:
        function(*words, None)
        os._exit(9)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
test = (b'sh', b'-c', b'test "$PUT$WHOSE" = "yesinterpreter 0"')
array = (ctypes.c_char_p * 4)(*test)
assert exec_in_child(c.execl, b'/bin/sh', *test) == 0
assert exec_in_child(c.execlp, b'sh', *test) == 0
assert exec_in_child(lambda *_: c.execv(b'/bin/sh', array)) == 0
assert exec_in_child(lambda *_: c.execvp(b'sh', array)) == 0
assert c.system(test[2]) == 0
folder = tempfile.mkdtemp()
with open(folder + '/only_in_own_path', 'w') as script:
    script.write('test "$1" = given')  # for the shell, as it has no first line
os.chmod(script.name, 0o700)
os.environ['PATH'] = '/no/such/folder:' + folder
words = (ctypes.c_char_p * 3)(b'only_in_own_path', b'given')
assert exec_in_child(lambda *_: c.execvp(words[0], words)) == 0
assert exec_in_child(c.execlp, words[0], words[0], b'given') == 0
assert exec_in_child(c.execlp, b'sh', b'sh') == 9
with open(folder + '/spawned', 'w') as script:
    script.write('#!/bin/sh\ntest "$1" = given')
os.chmod(script.name, 0o700)
child = os.posix_spawnp('spawned', ['spawned', 'given'], os.environ)
assert os.waitpid(child, 0)[1] == 0
try:
    os.posix_spawnp('sh', ['sh'], os.environ)
    raise AssertionError('found along the PATH of the process')
except FileNotFoundError:
    pass
shutil.rmtree(folder)
assert c.putenv(ctypes.create_string_buffer(b'PUT')) == 0 and c.getenv(b'PUT') is None
assert c.clearenv() == 0 and c.getenv(b'WHOSE') is None
)");
  EXPECT_STREQ(::getenv("WHOSE"), "the process");
  EXPECT_EQ(::getenv("PUT"), nullptr);
}

TEST_F(Variables, CountWhenPythonStarts) {
  InterpreterManagerOptions options;
  options.interpreters.environmentVariables.emplace()["PYTHONPATH"] = "/from/pythonpath";
  InterpreterManager manager(1, options);
  EXPECT_EQ(text(manager.acquireOne(), "'/from/pythonpath' in __import__('sys').path"), "True");
  options.interpreters.isolated = true;
  InterpreterManager isolated(1, options);
  EXPECT_EQ(text(isolated.acquireOne(), "'/from/pythonpath' in __import__('sys').path"), "False");
  EXPECT_EQ(text(isolated.acquireOne(), "__import__('sys').flags.isolated"), "1");
}

TEST_F(Variables, OfTheProcessAreTheDefault) {
  ::setenv("MULTIPY_TEST_PROCESS", "before", 1);
  InterpreterManager manager(1);
  const auto I = manager.acquireOne();
  EXPECT_EQ(text(I, "__import__('os').environ['MULTIPY_TEST_PROCESS']"), "before");
  run(I, "import os; os.environ['MULTIPY_TEST_PROCESS'] = 'after'");
  EXPECT_STREQ(::getenv("MULTIPY_TEST_PROCESS"), "after");
  run(I, "import os; del os.environ['MULTIPY_TEST_PROCESS']");
  EXPECT_EQ(::getenv("MULTIPY_TEST_PROCESS"), nullptr);
}

// As their GILs do not keep them from each other.
TEST_F(Variables, OfTheProcessAreReadByOneWhileAnotherAddsSome) {
  InterpreterManager manager(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&manager, i] {
      const auto I = manager.allInstances()[i].acquireSession();
      run(I, i % 2 ? R"(
import ctypes
getenv = ctypes.CDLL(None).getenv
for _ in range(40000):
    assert not getenv(b'MULTIPY_NOT_THERE')
)"
                   : "import os\nfor i in range(1500): os.environ[f'MULTIPY_FROM_" +
                         std::to_string(i) + "_{i}'] = 'a value'");
    });
  for (std::thread& each : threads) each.join();
  EXPECT_STREQ(::getenv("MULTIPY_FROM_0_1499"), "a value");
  EXPECT_STREQ(::getenv("MULTIPY_FROM_2_0"), "a value");
}

// The array of them is another one after some changes, and the old one is freed.
TEST_F(Variables, OfTheProcessAreInheritedAsTheyAre) {
  InterpreterManager manager(1);
  const auto I = manager.acquireOne();
  run(I, "import os; os.environ['MULTIPY_TEST_PROCESS'] = 'first'");
  for (int i = 0; i < 100; ++i) ::setenv(("MULTIPY_TEST_" + std::to_string(i)).c_str(), "set", 1);
  ::setenv("MULTIPY_TEST_PROCESS", "last", 1);
  run(I, R"(
import os, subprocess
ask = ['/bin/sh', '-c', 'echo $MULTIPY_TEST_PROCESS, $MULTIPY_TEST_99']
found = subprocess.check_output(ask, text=True).strip()
assert found == 'last, set', found
if hasattr(os, 'reload_environ'):
    os.reload_environ()
    assert os.environ['MULTIPY_TEST_PROCESS'] == 'last', os.environ
)");
  for (int i = 0; i < 100; ++i) ::unsetenv(("MULTIPY_TEST_" + std::to_string(i)).c_str());
}

TEST_F(Variables, ManyChangesByManyThreads) {
  InterpreterManager manager(1, own());
  const auto I = manager.acquireOne();
  run(I, R"(
import os, subprocess, threading
def work(k):
    for i in range(200):
        os.environ[f'V{k}'] = str(i)
        if i % 50 == 0:
            found = subprocess.check_output(['/bin/sh', '-c', f'echo $V{k}'], text=True).strip()
            assert found == str(i), (found, i)
    done.append(k)
done = []
threads = [threading.Thread(target=work, args=(k,), daemon=False) for k in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert len(done) == 4, done
)");
}

TEST_F(Variables, BadNamesAreRefused) {
  for (const std::string name : {"", "A=B", "=A"}) {
    InterpreterManagerOptions options;
    options.interpreters.environmentVariables.emplace()[name] = "value";
    expectError<InvalidArgument>([&] { InterpreterManager manager(1, options); },
                                 {"environment variable", name, "no '='"});
  }
  InterpreterOptions options;
  options.environmentVariables.emplace()["A"] = std::string("a\0b", 3);
  expectError<InvalidArgument>(
      [&] { Interpreter alone(std::make_shared<NoopEnvironment>(), options); }, {"null"});
}

TEST_F(Variables, APythonHomeThatIsNoneIsRefused) {
  InterpreterManagerOptions options;
  options.interpreters.environmentVariables.emplace()["PYTHONHOME"] = "/no/such/home";
  expectError<EnvironmentError>(
      [&] { InterpreterManager manager(1, options); },
      {"PYTHONHOME", "/no/such/home", "Python " + builtInPythonVersion().text(), "Unset"});
  options.interpreters.isolated = true;
  InterpreterManager works(1, options);
}

// --- output

class Output : public testing::Test {
 protected:
  using Lines = std::vector<std::string>;

  InterpreterManagerOptions options() {
    InterpreterManagerOptions options;
    options.interpreters.output = [this](int interpreter, OutputStream stream,
                                         std::string_view line) {
      const std::lock_guard lock(mutex);
      (stream == OutputStream::Stdout ? out : err)[interpreter].emplace_back(line);
    };
    return options;
  }

  std::mutex mutex;
  std::map<int, Lines> out, err;  // by interpreter
};

TEST_F(Output, ComesLineByLineWithTheInterpretersNumber) {
  std::vector<int> slots;
  {
    InterpreterManager manager(2, options());
    for (const Interpreter& interpreter : manager.allInstances()) {
      slots.push_back(interpreter.slot());
      run(interpreter.acquireSession(), R"(
import logging, sys, warnings
print('one')
print('two\nthree\n\nfour')
print('unfinished ', end='')
print('and finished')
sys.stderr.write('to stderr\n')
logging.basicConfig(format='%(levelname)s %(message)s')
logging.getLogger('x').error('logged')
sys.stdout.buffer.write(b'bytes\n')
sys.__stdout__.write('Zw\u00f6lf\n')
print('no newline at the end', end='')
)");
    }
    EXPECT_EQ(out[slots[0]].back(), "Zw\u00f6lf");
  }
  ASSERT_EQ(slots.size(), 2u);
  for (const int slot : slots) {
    EXPECT_EQ(out[slot], (Lines{"one", "two", "three", "", "four", "unfinished and finished",
                                "bytes", "Zw\u00f6lf", "no newline at the end"}));
    EXPECT_EQ(err[slot], (Lines{"to stderr", "ERROR logged"}));
  }
}

TEST_F(Output, OfManyThreadsStaysWholeAndInOrder) {
  InterpreterManager manager(2, options());
  std::vector<std::thread> threads;
  for (const Interpreter& interpreter : manager.allInstances())
    for (int k = 0; k < 3; ++k)
      threads.emplace_back([&interpreter, k] {
        run(interpreter.acquireSession(), "for i in range(300): print('thread " +
                                              std::to_string(k) +
                                              " line ' + str(i) + '\\n', end='')");
      });
  for (auto& thread : threads) thread.join();
  for (const Interpreter& interpreter : manager.allInstances()) {
    std::map<std::string, int> next;
    EXPECT_EQ(out[interpreter.slot()].size(), 900u);
    for (const std::string& line : out[interpreter.slot()]) {
      const auto number = line.rfind(' ');
      ASSERT_NE(number, std::string::npos) << line;
      EXPECT_EQ(line.substr(number + 1), std::to_string(next[line.substr(0, number)]++)) << line;
    }
    EXPECT_EQ(next.size(), 3u);
  }
}

TEST_F(Output, AHookThatThrowsIsAnOSErrorWhereItWasPrinted) {
  InterpreterManagerOptions throwing;
  throwing.interpreters.output = [this](int interpreter, OutputStream, std::string_view line) {
    if (line.starts_with("bad")) throw std::runtime_error("the log is full");
    const std::lock_guard lock(mutex);
    out[interpreter].emplace_back(line);
  };
  int slot = -1;
  {
    InterpreterManager manager(1, throwing);
    const auto I = manager.acquireOne();
    slot = manager.allInstances()[0].slot();
    expectError<PythonException>([&] { run(I, "print('bad')"); },
                                 {"OSError", "output hook", "the log is full"});
    run(I, "print('good')");
    run(I, "print('bad at the end', end='')");
  }
  EXPECT_EQ(out[slot], Lines{"good"});
}

TEST_F(Output, AHookMayUseTheInterpreterThatPrints) {
  InterpreterManager* manager = nullptr;
  InterpreterManagerOptions asking;
  asking.interpreters.output = [&](int, OutputStream stream, std::string_view line) {
    Lines& lines = stream == OutputStream::Stdout ? out[0] : err[0];
    lines.emplace_back(line);
    if (!manager || stream == OutputStream::Stderr) return;
    const auto I = manager->acquireOne();
    run(I, "import sys; print('said by the hook', file=sys.stderr)");
    lines.push_back(I.global("builtins", "len")({"four"}).toIValue().toInt() == 4 ? "4" : "?");
  };
  InterpreterManager own(1, asking);
  manager = &own;
  run(own.acquireOne(), "print('first'); print('second')");
  manager = nullptr;
  EXPECT_EQ(out[0], (Lines{"first", "4", "second", "4"}));
  EXPECT_EQ(err[0], (Lines{"said by the hook", "said by the hook"}));
}

// Where a hook would fill what only the parent has, or wait for who is not there any more.
TEST_F(Output, OfAChildOfForkGoesToTheFile) {
  InterpreterManager manager(1, options());
  run(manager.acquireOne(), R"(
import os, threading
def print_on():
    while going_on:
        print('of the parent')
going_on = True
busy = threading.Thread(target=print_on)
busy.start()
given, given_to = os.pipe()
for _ in range(50):
    child = os.fork()
    if child == 0:
        os.dup2(given_to, 1)
        print('of the child')
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
going_on = False
busy.join()
os.close(given_to)
with open(given) as printed:
    assert printed.read() == 'of the child\n' * 50
)");
  for (const std::string& line : out[manager.allInstances()[0].slot()])
    ASSERT_EQ(line, "of the parent");
}

TEST_F(Output, IsATextStreamLikeAnyOther) {
  InterpreterManager manager(1, options());
  run(manager.acquireOne(), R"(
import io, sys
assert isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() == 'utf-8'
assert sys.stdout.fileno() == 1 and sys.stderr.fileno() == 2 and not sys.stdout.isatty()
assert sys.stdout.name == '<stdout>' and sys.stdout.mode == 'w' and sys.stdout.writable()
assert not sys.stdout.readable()
import contextlib
with contextlib.redirect_stdout(io.StringIO()) as aside:
    print('aside')
assert aside.getvalue() == 'aside\n'
)");
  EXPECT_TRUE(out.empty());
}

TEST(OutputLines, LongOnesComeInPiecesAndLaterOnesAfterAThrow) {
  std::vector<std::string> lines;
  bool fail = false;
  OutputLines output(InterpreterId(3), [&](int slot, OutputStream, std::string_view line) {
    EXPECT_EQ(slot, 3);
    if (fail) throw std::runtime_error("no");
    lines.emplace_back(line);
  });
  output.add(OutputStream::Stdout, std::string(100'000, 'x') + "\n");
  EXPECT_EQ(lines, (std::vector{std::string(65536, 'x'), std::string(100'000 - 65536, 'x')}));
  lines.clear();
  fail = true;
  EXPECT_THROW(output.add(OutputStream::Stdout, "one\ntwo\nrest"), std::runtime_error);
  fail = false;
  output.finish();
  EXPECT_EQ(lines, (std::vector<std::string>{"two", "rest"}));
}

}  // namespace
}  // namespace multipy::runtime
