// InterpreterOptions::slimTorch: what serving does not use of torch is executed when used.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/call_options.h"
#include "multipy/runtime/interpreter.h"
#include "multipy/runtime/interpreter_manager.h"
#include "slim_interpreters.h"

namespace multipy::runtime {
namespace {

const std::string kModules = "import sys, torch\n";
const std::string kKind = "type(sys.modules['torch.fx']).__name__";

long residentKilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::stol(line.substr(8));
  return 0;
}

/// What `import torch` takes in one more interpreter.
long takenByTorch(bool slim, std::vector<Interpreter>& kept) {
  kept.push_back(interpreter(slim));
  const long before = residentKilobytes();
  text(kept.back(), kModules, "torch.ones(2) + 1");
  return residentKilobytes() - before;
}

TEST(SlimTorch, IsOnUnlessSwitchedOff) {
  const Interpreter usual(std::make_shared<NoopEnvironment>());
  EXPECT_EQ(text(usual, kModules, kKind), "LazyModule");
  EXPECT_EQ(text(interpreter(false), kModules, kKind), "module");
}

// `import torch` goes without garbage collections, slim or not.
TEST(TorchsStart, LeavesCollectionsAsTheyWere) {
  for (const bool slim : {false, true}) {
    EXPECT_EQ(text(interpreter(slim), kModules + "import gc", "gc.isenabled()"), "True");
    EXPECT_EQ(text(interpreter(slim), "import gc\ngc.disable()\n" + kModules, "gc.isenabled()"),
              "False");
  }
}

// What it made is old afterwards: no collection looks through all of it right away. What
// a program has frozen itself stays frozen.
TEST(TorchsStart, LeavesItsObjectsOld) {
  const std::string count = "import gc\nbefore = len(gc.get_objects())\n" + kModules;
  const std::string isOld =
      "len(gc.get_objects(generation=2)) > before and len(gc.get_objects(generation=0)) "
      "< 10_000 and gc.get_freeze_count() == 0";
  EXPECT_EQ(text(interpreter(false), count, isOld), "True");
  // Many packages look first whether torch is there.
  EXPECT_EQ(
      text(interpreter(false), "from importlib.util import find_spec\nfind_spec('torch')\n" + count,
           isOld + " and sys.modules['torch'].__spec__.loader.__class__.__name__ == "
                   "'SourceFileLoader'"),
      "True");
  EXPECT_EQ(text(interpreter(false), "import gc\ngc.freeze()\n" + kModules,
                 "gc.get_freeze_count() > 1000"),
            "True");
}

TEST(SlimTorch, TakesMuchLessMemory) {
  std::vector<Interpreter> kept;
  takenByTorch(false, kept);  // what the process has once is there from now on
  const long usual = takenByTorch(false, kept);
  const long slim = takenByTorch(true, kept);
  // It is about half; the margin is for what malloc had left.
  EXPECT_LT(slim, usual * 7 / 10) << "kilobytes; usually " << usual;
}

TEST(SlimTorch, EagerModelsUseNothingOfTheRest) {
  const std::string model = kModules + R"(
import io, pickle
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.LayerNorm(8))
bytes = io.BytesIO()
torch.save(model.state_dict(), bytes)
bytes.seek(0)
model.load_state_dict(torch.load(bytes))
with torch.no_grad():
    y = model.eval()(torch.arange(4.0))
shown = repr(pickle.loads(pickle.dumps(y)))
)";
  const Interpreter slim = interpreter(true);
  const Interpreter usual = interpreter(false);
  EXPECT_EQ(text(slim, model, "shown"), text(usual, model, "shown"));
  EXPECT_EQ(text(slim, kModules, kKind), "LazyModule");
}

struct Use {
  const char* what;
  const char* statements;
  const char* expression;
};

class SlimTorchUse : public testing::TestWithParam<Use> {
 protected:
  static void SetUpTestSuite() { usual_ = std::make_unique<Interpreter>(interpreter(false)); }
  static void TearDownTestSuite() { usual_.reset(); }
  static inline std::unique_ptr<Interpreter> usual_;
};

// Each as the first use of a lazy module.
TEST_P(SlimTorchUse, GivesWhatItUsuallyGives) {
  const Interpreter slim = interpreter(true);
  const std::string statements = kModules + GetParam().statements;
  EXPECT_EQ(text(slim, statements, GetParam().expression),
            text(*usual_, statements, GetParam().expression));
}

INSTANTIATE_TEST_SUITE_P(
    First, SlimTorchUse,
    testing::Values(
        Use{"Attribute", "class T(torch.fx.Tracer): pass",
            "[node.name for node in T().trace(torch.nn.ReLU()).nodes]"},
        Use{"FromImport", "from torch.fx import symbolic_trace as t", "t(torch.nn.ReLU()).code"},
        Use{"DeepImport", "import torch.fx.experimental.proxy_tensor as p",
            "(p.make_fx(torch.sin)(torch.ones(1)).code, type(p).__name__)"},
        Use{"NameInTorch", "x = torch.ones(2)",
            "torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))"},
        Use{"PickledNames", "import copy, pickle",
            "(pickle.loads(pickle.dumps(torch.nn.DataParallel)) is torch.nn.DataParallel, "
            "copy.copy(torch.cond) is torch.cond)"},
        Use{"Compile", "f = torch.compile(lambda x: x.sin() + 1, backend='eager')",
            "f(torch.ones(2))"},
        Use{"MetaTensor", "x = torch.empty(2, 3, device='meta')",
            "(torch.nn.functional.conv1d(x[None], torch.empty(4, 2, 1, device='meta')).shape)"},
        Use{"CompilersSettings",
            "torch._dynamo.config.cache_size_limit = 64\nfrom torch import vmap\n"
            "d = torch.compiler.disable(lambda x: x + 1)\n"
            "f = torch.compile(lambda x: vmap(torch.sin)(d(x)), backend='eager')",
            "(f(torch.ones(2)), torch.compile(vmap(torch.cos), backend='eager')(torch.ones(1)))"},
        Use{"NamesOfModulesThatHaveThem",
            "from torch import vmap as original\nfrom torch.nn import DataParallel\n"
            "torch.vmap = lambda f: original(f)",
            "(original.__name__, type(DataParallel), torch.vmap(torch.sin)(torch.ones(1)), "
            "type(DataParallel(torch.nn.ReLU())) is DataParallel)"},
        Use{"Signatures", "import inspect",
            "[[*inspect.signature(f).parameters] for f in (torch.nn.DataParallel, torch.cond)]"},
        Use{"NewClass", "import types\nMine = types.new_class('Mine', (torch.nn.DataParallel,))",
            "Mine.__mro__[1] is torch.nn.DataParallel"},
        Use{"Help", "import pydoc", "pydoc.render_doc(torch.nn.DataParallel)[:200]"},
        Use{"Mocks", "from unittest import mock\nmade = mock.MagicMock(spec=torch.nn.DataParallel)",
            "(isinstance(made, torch.nn.DataParallel), isinstance(made, torch.nn.Module), "
            "isinstance(mock.create_autospec(torch.nn.DataParallel)(made), torch.nn.Module))"},
        Use{"ModulesThatOnlyLazyOnesImport",
            "import email, http, unittest, urllib\n"
            "reached = [urllib.request.Request, urllib.error, "
            "http.client, email.message, email.utils, unittest.mock.Mock, torch.distributed.utils, "
            "torch.distributed.algorithms.join.Join, torch.testing._internal.logging_tensor]",
            "([each.__name__ for each in reached], hasattr(urllib, 'not_there'))"},
        Use{"AllNames", "from torch.nn import *",
            "(type(DataParallel), type(DataParallel(ReLU())) is DataParallel, "
            "DataParallel is torch.nn.DataParallel)"},
        Use{"EnvironmentOfTheStart",
            "import os\nos.environ['PYTORCH_JIT'] = '0'\nimport torch.jit._state as state\n"
            "enabled = state._enabled.enabled\ndel os.environ['PYTORCH_JIT']",
            "enabled"},
        Use{"OperatorsByName", "", "torch.ops.prims.sin(torch.ones(1))"},
        Use{"HigherOrderOperators", "", "torch.ops.higher_order.cond"},
        Use{"SizesInTrees", "import torch.utils._pytree as t",
            "t.tree_flatten(torch.Size([2, 3]))[0]"},
        Use{"TorchScript", "import types\nmodel = torch.jit.trace(torch.nn.ReLU(), torch.ones(2))",
            "(isinstance(model, torch.jit.ScriptModule), model(torch.ones(2)))"},
        Use{"IsInstance", "",
            "(isinstance(1, torch.nn.DataParallel), torch.nn.DataParallel.__name__)"},
        Use{"Checkpoint", "x = torch.ones(2, requires_grad=True)",
            "torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)"},
        Use{"Distributed", "import torch.distributed as d",
            "(d.is_available(), d.is_initialized(), d.ReduceOp.SUM)"},
        // A text that torch's start makes of what a lazy module has.
        Use{"TextsOfTheStart", "f = getattr(torch.compiler, 'nested_compile_region', None)",
            "getattr(f, '__doc__', None)"},
        Use{"Generator", "g = torch.Generator().manual_seed(3)", "torch.rand(2, generator=g)"}),
    [](const auto& use) { return std::string(use.param.what); });

// torch 2.5 and later load such extensions at the end of their start.
TEST(SlimTorch, ABackendMayUseTheRestWhileTorchStarts) {
  const std::string backend = R"(
import os, sys, tempfile
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(folder + "/a_backend-1.0.dist-info")
    for name, text in {
        "a_backend-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: a_backend\nVersion: 1.0\n",
        "a_backend-1.0.dist-info/entry_points.txt": "[torch.backends]\na = a_backend:begin\n",
        "a_backend.py": "import torch\ndef begin(): torch.fx.Graph()\n",
    }.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    sys.path.append(folder)
    import torch
import torch.utils._pytree as trees
)";
  EXPECT_EQ(
      text(interpreter(true), backend,
           "[hasattr(torch, '_import_device_backends') == ('a_backend' in sys.modules), "
           "*torch.empty(2, 3, device='meta').shape, torch.ops.prims.neg(torch.ones(1)).item(), "
           "torch.ops.higher_order.cond.name(), trees.tree_leaves(torch.Size([4, 5]))]"),
      "[True, 2, 3, -1.0, 'cond', [4, 5]]");
}

// What is registered halfway could not be registered again.
TEST(SlimTorch, AnInterruptDoesNotStopItHalfway) {
  InterpreterManager manager(1);
  manager.registerModuleSource("work", R"(
import torch
class Work:
    def __call__(self, started):
        if started is None:
            import _multipy_lazy_modules
            graphs = _multipy_lazy_modules.Group.by_name["graphs"]
            return graphs.done or not graphs.has_begun("torch.fx")
        torch.ones(1).fill_(1)  # the first call may take a while
        started.fill_(1)
        torch.fx.Graph
        while True: pass
)");
  ReplicatedObj work;
  {
    auto session = manager.acquireOne();
    work =
        manager.createMovable(session.global("work", "Work")(at::ArrayRef<at::IValue>()), &session);
  }
  // The tensor tells that the call has come to it.
  const at::Tensor started = at::zeros({1}, at::kInt);
  const volatile int* const isStarted = started.data_ptr<int>();
  CallOptions stoppable;
  std::stop_source source;
  stoppable.stop = source.get_token();
  std::jthread stopping([&] {
    while (*isStarted == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source.request_stop();
  });
  EXPECT_THROW(static_cast<void>(work.call({started}, stoppable)), CancelledError);
  EXPECT_TRUE(work({at::IValue()}).toBool());
}

// No Python code is on the stack then.
TEST(SlimTorch, CppMayUseItFirst) {
  auto in = interpreter(true);
  auto I = in.acquireSession();
  EXPECT_EQ(I.global("torch.fx", "Graph").attr("__name__").toIValue().toStringRef(), "Graph");
  EXPECT_EQ(I.global("torch", "vmap").attr("__name__").toIValue().toStringRef(), "vmap");
}

TEST(SlimTorch, ModelsAreMadeOnTheDeviceMetaWithoutTheRest) {
  EXPECT_EQ(text(interpreter(true), R"(
import threading, torch
import _multipy_lazy_modules
linear = torch.nn.Linear(3, 4, device="meta")
with torch.device("meta"):
    embedding = torch.nn.Embedding(5, 3)
shapes = [tuple(linear(embedding.weight).shape)]
done = [_multipy_lazy_modules.is_done("graphs")]
convolution = torch.nn.Conv1d(3, 4, 1, device="meta")
barrier = threading.Barrier(4)
def convolve():
    barrier.wait()
    shapes.append(tuple(convolution(torch.empty(3, 2, device="meta")).shape))
threads = [threading.Thread(target=convolve) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
done.append(_multipy_lazy_modules.is_done("graphs"))
)",
                 "(shapes, done)"),
            "([(5, 4), (4, 2), (4, 2), (4, 2), (4, 2)], [False, True])");
}

TEST(SlimTorch, TensorsAreLoadedWithoutTheRest) {
  const Interpreter slim = interpreter(true);
  const std::string files = kModules + R"(
import io
files = []
for zipped in True, False:
    files.append(io.BytesIO())
    tensors = {"a": torch.arange(3.0), "b": torch.nn.Parameter(torch.ones(2))}
    torch.save(tensors, files[-1], _use_new_zipfile_serialization=zipped)
def loaded():
    for file in files:
        file.seek(0)
        yield torch.load(file)
)";
  EXPECT_EQ(text(slim, files + "found = [each['a'].tolist() for each in loaded()]",
                 "(found, type(sys.modules['torch._guards']).__name__)"),
            "([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]], 'LazyModule')");
  const std::string fake = files + R"(
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    found = [type(value).__name__ for value in next(loaded()).values()]
)";
  EXPECT_EQ(text(slim, fake, "found"), text(interpreter(false), fake, "found"));
}

TEST(SlimTorch, TypesOfOperatorsAreKnownWithoutTorchDistributed) {
  const Interpreter slim = interpreter(true);
  const std::string import = kModules + "from torch._library import infer_schema\n";
  EXPECT_EQ(text(slim, import,
                 "(torch.Tensor in infer_schema.SUPPORTED_PARAM_TYPES, "
                 "torch.distributed.is_initialized(), "
                 "type(sys.modules['torch.distributed']).__name__)"),
            "(True, False, 'LazyModule')");
  // Operators may have its own types as well.
  const std::string distributed =
      import + "import torch.distributed.distributed_c10d as c10d\nc10d.GroupMember\n";
  const std::string types = "[str(each) for each in infer_schema.SUPPORTED_PARAM_TYPES]";
  EXPECT_EQ(text(slim, distributed, types), text(interpreter(false), distributed, types));
}

TEST(SlimTorch, ProgramsReplaceFunctionsOfModulesThatWait) {
  EXPECT_EQ(text(interpreter(true), kModules + R"(
torch.distributed.get_rank = lambda group=None: 3
torch.fx.Node = 4
from torch.fx import Node
)",
                 "(torch.distributed.get_rank(), torch.fx.Node, Node, torch.fx.Graph.__name__)"),
            "(3, 4, 4, 'Graph')");
}

TEST(SlimTorch, ThreadsMayUseItFirstAtOnce) {
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(text(slim, kModules + R"(
import threading
uses = [lambda: torch.fx.Graph(), lambda: torch.func.vmap(torch.sin)(torch.ones(2)),
        lambda: torch.export.Dim("n"), lambda: torch.nn.DataParallel,
        lambda: torch.distributions.Normal(0.0, 1.0), lambda: torch.empty(1, device="meta") + 1]
begin = threading.Barrier(len(uses))
done = []
def use(what):
    begin.wait()
    what()
    done.append(what)
threads = [threading.Thread(target=use, args=(what,)) for what in uses]
for thread in threads: thread.start()
for thread in threads: thread.join()
)",
                 "len(done)"),
            "6");
}

// One executes what the other waits for in the middle of an import: it must not wait for
// locks of that import.
TEST(SlimTorch, AnImportThatWaitsHoldsNobodyUp) {
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(text(slim, kModules + R"(
import threading, time
begun = threading.Event()
def wait_and_import():
    begun.wait()
    import torch.distributions.normal
    imported.append(torch.distributions.normal.Normal)
imported = []
importer = threading.Thread(target=wait_and_import)
def importer_waits():
    functions = []
    frame = sys._current_frames()[importer.ident]
    while frame:
        functions.append(frame.f_code.co_name)
        frame = frame.f_back
    return functions[0] == "acquire"
def hook(event, arguments):
    code = arguments[0] if event == "exec" else None
    if getattr(code, "co_filename", "").endswith("torch/distributions/__init__.py"):
        begun.set()
        while not importer_waits(): time.sleep(0.001)
sys.addaudithook(hook)
importer.start()
used = torch.distributions.Normal
importer.join()
)",
                 "(used is imported[0], used(2.0, 1.0).mean.item())"),
            "(True, 2.0)");
}

// One executes a lazy module, which imports what the other one imports, which comes to a lazy
// module (another one) or to a name that is listed as lazy: each waits for the other, but none may
// get a module that is half executed.
TEST(SlimTorch, NobodySeesAModuleThatWaitsForALazyOne) {
  const Interpreter slim = interpreter(true);
  const std::string uses = kModules + R"(
import _frozen_importlib, importlib, threading, time
class Finder:
    def create_module(spec): return None
    def exec_module(module):
        import tempfile
        importing.set()
        executing.wait()
        tempfile.gettempdir
        module.last = 1
    def find_spec(name, path=None, target=None):
        if name == "uses_a_lazy_module":
            return importlib.machinery.ModuleSpec(name, Finder)
def hook(event, arguments):
    code = arguments[0] if event == "exec" else None
    file = getattr(code, "co_filename", "")
    if file.endswith("asyncio/base_events.py"):
        importing.set()
        executing.wait()
    if file.endswith("unittest/mock.py"):
        executing.set()
        while importer.is_alive() and not _frozen_importlib._blocking_on.get(importer.ident):
            time.sleep(0.001)
        found.append(hasattr(importlib.import_module(imported), last))
importing, executing, found = threading.Event(), threading.Event(), []
importer = threading.Thread(target=importlib.import_module, args=(imported,))
sys.meta_path.insert(0, Finder)
sys.addaudithook(hook)
importer.start()
importing.wait()
torch._guards.detect_fake_mode
importer.join()
)";
  EXPECT_EQ(text(slim, "imported, last = 'asyncio', 'run'\n" + uses, "found"), "[True]");
  EXPECT_EQ(text(interpreter(true), "imported, last = 'uses_a_lazy_module', 'last'\n" + uses,
                 "(found, type(sys.modules['tempfile']).__name__)"),
            "([True], 'module')");
}

// A package is executed before the modules in it, and they become its attributes last.
TEST(SlimTorch, NobodySeesAPackageWhosePartsAreStillMissing) {
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(text(slim, kModules + R"(
import threading, time
begun = threading.Event()
found = []
def use():
    begun.wait()
    try:
        found.append(torch._functorch.utils.__name__)
    except AttributeError as error:
        found.append(error)
user = threading.Thread(target=use)
def user_waits():
    return sys._current_frames()[user.ident].f_code.co_name == "acquire"
def hook(event, arguments):
    code = arguments[0] if event == "exec" else None
    if getattr(code, "co_filename", "").endswith("torch/_functorch/utils.py"):
        begun.set()
        while not found and not user_waits(): time.sleep(0.001)
sys.addaudithook(hook)
user.start()
torch.func.vmap(torch.sin)(torch.ones(2))
begun.set()  # torch 2.15 has executed that module before: there is nothing to wait for
user.join()
)",
                 "found"),
            "['torch._functorch.utils']");
}

// What plain Python finds in torch after `import torch` is found in a slim one as well.
TEST(SlimTorch, EveryModuleOfTheStartIsReached) {
  const Interpreter usual = interpreter(false);
  const std::string names =
      text(usual, kModules, "[n for n in sys.modules if n.startswith('torch.')]");
  const Interpreter slim = interpreter(true);
  const std::string reached = kModules + "import functools\nnames = " + names + R"(
def reached(name):
    try:
        functools.reduce(getattr, name.split(".")[1:], torch)
        return True
    except AttributeError:
        return False
)";
  // (torch up to 2.4 deletes some of them from their packages, plainly.)
  const std::string found = text(usual, reached, "[n for n in names if reached(n)]");
  EXPECT_GT(found.size(), 1000u);
  EXPECT_EQ(text(slim, reached, "[n for n in " + found + " if not reached(n)]"), "[]");
}

// Also one that is imported while the package above it, which imports it too, is executed.
TEST(SlimTorch, NoModuleIsExecutedTwice) {
  const std::string uses = R"(
import collections, sys
executed = collections.Counter()
def note(event, arguments):
    if event == "exec" and arguments[0].co_name == "<module>":
        executed[arguments[0].co_filename] += 1
sys.addaudithook(note)
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
import torch._dynamo, torch.export, torch.jit, torch.fx.experimental.proxy_tensor, torch.distributed
FakeTensorMode()
import unittest.mock, email.message, http.client, urllib.request, asyncio, shutil, tempfile
# (A constant is read from the source of invoke_subgraph, as slim interpreters do with torch 2.15.)
twice = [
    name for name, times in executed.items()
    if times > 1 and name.endswith(".py") and not name.endswith("invoke_subgraph.py")
]
)";
  EXPECT_EQ(text(interpreter(true), uses, "twice"), text(interpreter(false), uses, "twice"));
}

TEST(SlimTorch, ExceptionsAreClasses) {
  EXPECT_EQ(text(interpreter(true), kModules + R"(
import warnings
try:
    raise ValueError("another one")
except (torch.jit.TracingCheckError, ValueError) as error:
    seen = [str(error)]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("text", torch.jit.TracerWarning)
seen += [w.category.__name__ for w in caught]
)",
                 "(seen, hasattr(torch.jit, 'not_there'))"),
            "(['another one', 'TracerWarning'], False)");
}

}  // namespace
}  // namespace multipy::runtime
