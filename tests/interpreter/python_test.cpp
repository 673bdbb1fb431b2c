// An interpreter without torch: what plain Python programs expect of it.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/interpreter_options.h>
#include <multipy/runtime/interpreter_session.h>
#include <multipy/runtime/noop_environment.h>
#include <multipy/runtime/obj.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>

namespace multipy::runtime {
namespace {

const std::vector<Obj> kNothing;

class PythonTest : public ::testing::Test {
 protected:
  InterpreterManager manager{2};
  InterpreterSession session = manager.acquireOne();

  PythonTest() {
    // eval() and exec() themselves want to be called from a Python frame.
    manager.registerModuleSource("evaluation", R"(
def evaluate(expression): return eval(expression, {})
def execute(statements): exec(statements, {'__name__': 'executed'})
)");
  }
  static at::IValue evaluate(const InterpreterSession& in, const char* expression) {
    return in.global("evaluation", "evaluate")({expression}).toIValue();
  }
  static void execute(const InterpreterSession& in, const char* statements) {
    in.global("evaluation", "execute")({statements});
  }
  at::IValue evaluate(const char* expression) { return evaluate(session, expression); }
  void execute(const char* statements) { execute(session, statements); }
};

TEST_F(PythonTest, EachInterpreterHasItsOwnModulesAndObjects) {
  std::set<int64_t> addresses;
  for (const Interpreter& interpreter : manager.allInstances()) {
    auto inside = interpreter.acquireSession();
    addresses.insert(evaluate(inside, "id(None)").toInt());
    execute(inside, "import sys; assert not hasattr(sys, 'mark'); sys.mark = 1");
  }
  EXPECT_EQ(addresses.size(), 2u);
}

TEST_F(PythonTest, StartsWithoutTorch) {
  EXPECT_FALSE(evaluate("'torch' in __import__('sys').modules").toBool());
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line))
    EXPECT_EQ(line.find("libtorch_python"), std::string::npos) << line;
}

TEST_F(PythonTest, KnowsItsEnvironment) {
  EXPECT_TRUE(evaluate("__import__('os').path.exists(__import__('sys').executable)").toBool());
  EXPECT_TRUE(evaluate("'site-packages' in ''.join(__import__('sys').path) or "
                       "'dist-packages' in ''.join(__import__('sys').path)")
                  .toBool());
  execute(R"(
import subprocess, sys
out = subprocess.run([sys.executable, '-c', 'import sys; print(sys.prefix, sys.version_info[:2])'],
                     capture_output=True, text=True, check=True).stdout.strip()
assert out == f'{sys.prefix} {sys.version_info[:2]}', out
)");
}

TEST_F(PythonTest, EveryStandardExtensionModuleImports) {
  execute(R"(
import os, sysconfig, importlib
folder = sysconfig.get_config_var('DESTSHARED')
names = sorted({f.split('.')[0] for f in os.listdir(folder) if f.endswith('.so')})
assert len(names) > 30, names
for name in names:
    if name not in ('_tkinter', '_xxtestfuzz'):   # wants libraries that need not be installed; a fuzz stub
        importlib.import_module(name)
)");
}

// The process's locale is "C", as that of every C++ program which has not set one.
TEST_F(PythonTest, TheLocalesEncodingIsPlainPythons) {
  execute(R"(
import codecs, io, locale, subprocess, sys
# (CPython 3.10 has no getencoding().)
get = 'getencoding()' if hasattr(locale, 'getencoding') else 'getpreferredencoding(False)'
name = f'codecs.lookup(locale.{get}).name'
ask = f'import codecs, locale; print({name})'
plain = subprocess.check_output([sys.executable, '-c', ask], text=True, env={}).strip()
assert eval(name) == plain == 'utf-8', (eval(name), plain)
assert io.TextIOWrapper(io.BytesIO('\u00e9'.encode()), encoding='locale').read() == '\u00e9'
)");
}

TEST_F(PythonTest, StdlibWorks) {
  execute(R"(
import ctypes, hashlib, json, sqlite3, ssl, zlib, decimal, threading, queue, asyncio, tempfile, pickle
assert hashlib.sha256(b'x').hexdigest().startswith('2d71')
assert json.loads('{"a": [1]}') == {'a': [1]}
assert sqlite3.connect(':memory:').execute('select 6*7').fetchone() == (42,)
assert zlib.decompress(zlib.compress(b'abc' * 100)) == b'abc' * 100
assert asyncio.run(asyncio.sleep(0, 'done')) == 'done'
q = queue.Queue()
t = threading.Thread(target=lambda: q.put(threading.current_thread().name), name='worker'); t.start(); t.join()
assert q.get() == 'worker'
)");
}

TEST_F(PythonTest, CtypesSeesThisInterpreterAndNoOther) {
  execute(R"(
import ctypes, sys
ctypes.pythonapi.Py_GetVersion.restype = ctypes.c_char_p
assert ctypes.pythonapi.Py_GetVersion().decode() == sys.version
none = ctypes.c_byte.in_dll(ctypes.pythonapi, '_Py_NoneStruct')
assert ctypes.addressof(none) == id(None)
assert ctypes.PyDLL(None).Py_IsInitialized() == 1
assert ctypes.CDLL(None).getpid() == __import__('os').getpid()
assert ctypes.CDLL('libm.so.6').abs(-3) == 3
try:
    ctypes.CDLL('no_such_library.so')
except OSError as error:
    assert 'no_such_library.so' in str(error), error
else:
    raise AssertionError('loaded a library that does not exist')
)");
}

TEST_F(PythonTest, AMissingSymbolIsNamedWithItsLibrary) {
  execute(R"(
import ctypes, _ctypes
for library, file in (ctypes.CDLL('libm.so.6'), '/libm.so.6: '), (ctypes.PyDLL(_ctypes.__file__), _ctypes.__file__ + ': '):
    try:
        library.no_such_function
    except AttributeError as error:
        assert str(error).endswith(file + 'undefined symbol: no_such_function'), error
    else:
        raise AssertionError(library)
try:
    ctypes.pythonapi.no_such_function
except AttributeError as error:
    assert str(error) == 'undefined symbol: no_such_function', error
)");
}

// In plain Python PyMem_RawFree() is free(), and PyMem_Free() and PyObject_Free() hand on to
// it what is not pymalloc's: there are extensions that rely on it.
TEST_F(PythonTest, BlocksOfMallocMayBeGivenToPythonsAllocators) {
  execute(R"(
import ctypes
libc = ctypes.CDLL('libc.so.6')
libc.malloc.restype = ctypes.c_void_p
python = ctypes.pythonapi
# The large ones have mappings of their own.
for size in (1, 24, 500, 5000, 1 << 20):
    for free in (python.PyMem_RawFree, python.PyMem_Free, python.PyObject_Free):
        free(ctypes.c_void_p(libc.malloc(ctypes.c_size_t(size))))
    for realloc in (python.PyMem_RawRealloc, python.PyMem_Realloc, python.PyObject_Realloc):
        realloc.restype = ctypes.c_void_p
        block = libc.malloc(ctypes.c_size_t(size))
        ctypes.memset(block, 7, size)
        block = realloc(ctypes.c_void_p(block), ctypes.c_size_t(2 * size))
        assert ctypes.string_at(block, size) == b'\7' * size
        python.PyMem_RawFree(ctypes.c_void_p(block))
)");
}

TEST_F(PythonTest, PendingCallsAreMadeInTheMainThread) {
  execute(R"(
import ctypes, threading
made = threading.Semaphore(0)
where = []
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def call(number):
    where.append(threading.current_thread() is threading.main_thread())
    made.release()
    return 0
add = ctypes.pythonapi.Py_AddPendingCall
add.argtypes = [type(call), ctypes.c_void_p]
for number in range(100):
    while add(call, number) != 0:  # the list is full
        assert made.acquire(timeout=60)
        made.release()
for number in range(100):
    assert made.acquire(timeout=60), number
assert where == [True] * 100, where
)");
}

TEST_F(PythonTest, PendingCallsBehindOneThatFailsAreMade) {
  execute(R"(
import ctypes, threading
made = threading.Semaphore(0)
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def call(number):
    made.release()
    return -1 if not number else 0
add = ctypes.PyDLL(None).Py_AddPendingCall  # keeps the GIL: the owner finds all of them
add.argtypes = [type(call), ctypes.c_void_p]
for number in (None, None, 1, 2):
    assert add(call, number) == 0
for number in range(4):
    assert made.acquire(timeout=60), number
)");
}

TEST(SignalsTest, NoHandlerIsInstalledOrChanged) {
  const auto handlers = [] {
    std::vector<void (*)(int)> all;
    for (int number = 1; number < 32; number++) {
      struct sigaction action;
      sigaction(number, nullptr, &action);
      all.push_back(action.sa_handler);
    }
    return all;
  };
  const auto before = handlers();
  {
    InterpreterManager manager(2);
    for (const Interpreter& interpreter : manager.allInstances()) {
      auto session = interpreter.acquireSession();
      session.global("signal", "getsignal")({2});
      session.global("faulthandler", "is_enabled")(kNothing);
      EXPECT_EQ(handlers(), before);
    }
  }
  EXPECT_EQ(handlers(), before);
}

namespace reached {
std::atomic<int> program;
void byProgram(int) { ++program; }
}  // namespace reached

TEST(SignalsTest, ReachTheProgramAndEachInterpreterThatAskedUntilItEnds) {
  struct sigaction own {};
  own.sa_handler = reached::byProgram;
  own.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &own, nullptr);
  {
    InterpreterManager manager(3);
    manager.registerModuleSource("asking", R"(
import faulthandler, os, signal, tempfile
stacks = tempfile.TemporaryFile()
def ask():
    faulthandler.register(signal.SIGUSR1, stacks)
def times():
    return os.pread(stacks.fileno(), 100000, 0).count(b'thread 0x')
)");
    for (const int asking : {0, 2})
      manager.allInstances()[asking].acquireSession().global("asking", "ask")(kNothing);
    raise(SIGUSR1);
    EXPECT_EQ(reached::program, 1);
    for (const auto& [interpreter, expected] : {std::pair{0, true}, {1, false}, {2, true}}) {
      const auto session = manager.allInstances()[interpreter].acquireSession();
      EXPECT_EQ(session.global("asking", "times")(kNothing).toIValue().toInt() > 0, expected)
          << interpreter;
    }
  }
  struct sigaction after {};
  sigaction(SIGUSR1, nullptr, &after);
  EXPECT_EQ(after.sa_handler, reached::byProgram);
  EXPECT_EQ(after.sa_flags & SA_RESTART, SA_RESTART);
  raise(SIGUSR1);
  EXPECT_EQ(reached::program, 2);
  signal(SIGUSR1, SIG_DFL);
}

// They write down what files were run, and have to see which ones are no files.
TEST_F(PythonTest, TraceAndCoverageToolsLeaveOutWhatIsNoFile) {
  manager.registerModuleSource("counted", "def f(n):\n  return n + 1\n");
  execute(R"(
import tempfile, trace
def work():
    import counted
    return counted.f(1)
tracer = trace.Trace(count=1, trace=0)
assert tracer.runfunc(work) == 2
with tempfile.TemporaryDirectory() as folder:
    tracer.results().write_results(summary=False, coverdir=folder)
)");
}

TEST_F(PythonTest, ExceptionsCarryTypeMessageAndTraceback) {
  manager.registerModuleSource("raising",
                               "class Odd(Exception): pass\ndef f():\n  raise Odd('why not')\n");
  try {
    session.global("raising", "f")(kNothing);
    FAIL();
  } catch (const PythonException& error) {
    EXPECT_EQ(error.type(), "raising.Odd");
    EXPECT_EQ(error.message(), "why not");
    EXPECT_NE(error.traceback().find("raise Odd('why not')"), std::string::npos)
        << error.traceback();
    EXPECT_NE(std::string(error.what()).find("raising.Odd: why not"), std::string::npos);
  }
  EXPECT_EQ(evaluate("1 + 1").toInt(), 2);
}

TEST_F(PythonTest, SystemExitAndKeyboardInterruptDoNotEndTheProcess) {
  for (const char* statement :
       {"raise SystemExit(7)", "import sys; sys.exit('bye')", "raise KeyboardInterrupt"}) {
    EXPECT_THROW(execute(statement), PythonException) << statement;
  }
  EXPECT_THROW(execute("def f(): f()\nf()"), PythonException);
  EXPECT_THROW(execute("x = 'x' * (1 << 62)"), PythonException);
  EXPECT_EQ(evaluate("2 + 2").toInt(), 4);
}

TEST_F(PythonTest, AMissingModuleIsNamedWithTheSearchPath) {
  try {
    session.global("no_such_module", "x");
    FAIL();
  } catch (const ModuleNotFoundError& error) {
    EXPECT_EQ(error.module(), "no_such_module");
    EXPECT_FALSE(error.searchPath().empty());
  }
}

TEST_F(PythonTest, RegisteredModulesComeFirstAndKeepTheirSource) {
  manager.registerModuleSource("colorsys", "answer = 42\n");  // hides the stdlib's
  EXPECT_EQ(session.global("colorsys", "answer").toIValue().toInt(), 42);
  EXPECT_EQ(evaluate("__import__('inspect').getsource(__import__('colorsys'))").toStringRef(),
            "answer = 42\n");
}

TEST_F(PythonTest, StartsWithNoMoreModulesThanPlainPython) {
  const Obj modules = session.global("sys", "modules").attr("copy")(kNothing);
  session.global("sys", "__dict__").attr("__setitem__")({session.fromIValue("at_start"), modules});
  execute(R"(
import subprocess, sys
plain = subprocess.check_output([sys.executable, '-c', 'import sys; print(*sys.modules)'], text=True)
more = set(sys.at_start) - set(plain.split())
assert more == {'_multipy_bootstrap', '_multipy_gates', '_multipy_host', 'gc'}, more
)");
}

// What the build compiled is what lies in the file.
// A code object has a table that no code sees; equal ones are one object here.
TEST_F(PythonTest, ACodeObjectTakesOneBlockLessThanInPlainPython) {
  execute(R"(
import subprocess, sys
count = """if True:
    import gc, marshal, sys
    text = 'def f(a, b, c): x = y = z = a; return lambda: (a, x)'
    data = marshal.dumps(compile(text, 'f', 'exec').co_consts[0])
    gc.collect()
    kept = [None] * 1000
    before = sys.getallocatedblocks()
    for i in range(1000): kept[i] = marshal.loads(data)
    blocks = (sys.getallocatedblocks() - before + 500) // 1000
"""
inside = {}
exec(count, inside)
plain = int(subprocess.check_output([sys.executable, '-c', count + '    print(blocks)']))
# The function's table, and the one of the function within, which CPython 3.10 does not make.
tables = 2 if sys.version_info >= (3, 11) else 0
assert inside['blocks'] == plain - tables, (inside['blocks'], plain)
)");
}

TEST(OurModulesTest, AreThoseOfTheSources) {
  InterpreterManagerOptions options;
  options.interpreters.slimTorch = true;
  options.interpreters.output = [](int, OutputStream, std::string_view) {};
  InterpreterManager manager(1, options);
  manager.registerModuleSource("comparison", R"(
import glob, importlib.util, os, sys, types
def compare(folder):
    importlib.util.find_spec('torch')  # loads those for slim interpreters
    files = glob.glob(folder + '/*.py')
    assert len(files) == 14, files
    for file in files:
        name = os.path.basename(file)[:-3]
        code = compile(open(file).read(), f'<multipy/{name}.py>', 'exec')
        functions = {c.co_name: c for c in code.co_consts if isinstance(c, types.CodeType)}
        ours = vars(sys.modules[name])
        same = [n for n, f in ours.items() if isinstance(f, types.FunctionType) and f.__code__ == functions.get(n)]
        assert same, (name, list(functions))
def write_package(path):
    from torch.package import PackageExporter
    with PackageExporter(path) as exporter:
        exporter.save_pickle('numbers', 'one.pkl', 1)
)");
  auto session = manager.acquireOne();
  // Executes the last of them.
  const std::string package =
      testing::TempDir() + "our_modules_" + std::to_string(::getpid()) + ".pt";
  session.global("comparison", "write_package")({package});
  manager.loadPackage(package).loadPickle("numbers", "one.pkl");
  std::remove(package.c_str());
  session.global("comparison", "compare")({MULTIPY_INTERPRETER_SOURCES});
}

// threading takes the thread that executes it for the main one, whose end it waits for
// when Python ends.
TEST(ThreadingTest, ItsMainThreadIsNoneOfTheProgramsWhoeverImportsItFirst) {
  const Interpreter interpreter(std::make_shared<NoopEnvironment>());
  EXPECT_FALSE(interpreter.acquireSession()
                   .global("sys", "modules")
                   .attr("__contains__")({"threading"})
                   .toIValue()
                   .toBool());
  constexpr int kThreads = 4;
  std::array<at::IValue, kThreads> found;
  std::array<std::thread, kThreads> threads;
  for (int i = 0; i < kThreads; ++i)
    threads[i] = std::thread([&, i] {
      auto session = interpreter.acquireSession();
      const Obj threading = session.global("importlib", "import_module")({"threading"});
      const at::IValue main = threading.attr("main_thread")(kNothing).attr("ident").toIValue();
      const at::IValue here = threading.attr("get_ident")(kNothing).toIValue();
      EXPECT_NE(main, here);
      found[i] = main;
    });
  for (std::thread& thread : threads) thread.join();
  for (const at::IValue& main : found) EXPECT_EQ(main, found[0]);
}

// Neither waits for the other: not the import for the thread that runs the destructor.
TEST_F(PythonTest, ADestructorMayImportThreadingWhileAThreadDoes) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  execute(("descriptor = " + std::to_string(ends[1]) + R"(
import os, sys, time
class Last:
    def __del__(self):
        os.write(descriptor, b'x')
        while 'threading' not in sys.modules:
            time.sleep(0.001)
        import threading
        sys.found = threading.main_thread().name
sys.Last = Last
)")
              .c_str());
  session.global("sys", "Last")(kNothing);  // dropped outside, for the housekeeping thread
  char byte;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  execute(R"(
import threading, sys, time
while not hasattr(sys, 'found'):
    time.sleep(0.001)
assert sys.found == 'MainThread', sys.found
)");
  for (const int end : ends) ::close(end);
}

TEST_F(PythonTest, TheOwnersThreadGivesResultsAndExceptionsBack) {
  execute(R"(
import _multipy_host, _thread
owner = _multipy_host.run_on_owner(_thread.get_ident)
assert owner != _thread.get_ident()
assert _multipy_host.run_on_owner(lambda: _multipy_host.run_on_owner(_thread.get_ident)) == owner
try:
    _multipy_host.run_on_owner(lambda: {}['absent'])
except KeyError as error:
    assert error.args == ('absent',) and error.__traceback__ is not None
else:
    raise AssertionError('no exception')
)");
}

TEST_F(PythonTest, PythonThreadsOutliveTheCallThatStartedThem) {
  execute(R"(
import threading, sys
sys.done = threading.Event()
threading.Thread(target=lambda: (sys.done.wait(30), setattr(sys, 'woken', True))).start()
)");
  execute("import sys; sys.done.set()");
  execute(R"(
import sys, time
for _ in range(1000):
    if getattr(sys, 'woken', False): break
    time.sleep(0.01)
assert sys.woken
)");
}

TEST_F(PythonTest, ForkFromAnInterpretersOwnThreadWorks) {
  execute(R"(
import subprocess, multiprocessing
assert subprocess.check_output(['echo', 'hi']) == b'hi\n'
)");
}

// There is no thread in the child that could execute it.
TEST_F(PythonTest, ThreadingCanBeImportedInTheChildOfAFork) {
  execute(R"(
import os, sys
assert 'threading' not in sys.modules
child = os.fork()
if child == 0:
    try:
        import threading
        right = threading.current_thread() is threading.main_thread()
    finally:
        os._exit(7 if right else 8)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
)");
}

TEST_F(PythonTest, MemoryIsGivenBackWhenInterpretersEnd) {
  const auto mapped = [] {
    std::ifstream statm("/proc/self/statm");
    long total, resident;
    statm >> total >> resident;
    return resident * 4096 / (1 << 20);
  };
  for (int i = 0; i < 3; i++) InterpreterManager warm(2);
  const long before = mapped();
  for (int i = 0; i < 20; i++) {
    InterpreterManager more(2);
    more.registerModuleSource("large", "x = [bytes(1000) for _ in range(20000)]");
    more.acquireOne().global("large", "x");
  }
  EXPECT_LT(mapped() - before, 60) << "MiB more after 40 interpreters that used 20 MB each";
}

}  // namespace
}  // namespace multipy::runtime
