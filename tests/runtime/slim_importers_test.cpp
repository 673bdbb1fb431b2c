// InterpreterOptions::slimTorch: imports of transformers are lazy as torch's own are. What
// transformers does while it is imported is done here by a package of its name.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "slim_interpreters.h"
#include "temporary_folder.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;

const std::vector<std::pair<const char*, const char*>> kFiles = {
    {"transformers/__init__.py", ""},
    {"transformers/generation/__init__.py", ""},
    {"transformers/generation/utils.py", R"(
import torch
from torch.fx import Proxy
def generate(x): return x + 1
def is_proxy(x): return isinstance(x, Proxy)
)"},
    {"transformers/integrations/__init__.py", R"(
import sys, types
class Replaced(types.ModuleType):
    answer = 42
replaced = Replaced(__name__)
replaced.__path__, replaced.__spec__ = __path__, __spec__
sys.modules[__name__] = replaced
)"},
    {"transformers/integrations/moe.py", R"(
import torch
@torch.library.custom_op("slim_importers::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2
@twice.register_fake
def _(x):
    return torch.empty_like(x)
)"},
    {"transformers/numbers.py", R"(
import sympy
from jinja2 import TemplateError
from sympy.core.sympify import SympifyError as NotANumber

def number(x):
    try:
        return sympy.sympify(x)
    except (NotANumber, TemplateError) as error:
        return type(error).__name__
)"},
    {"huggingface_hub/__init__.py", R"(
import importlib
def __getattr__(name):
    if name in ("HfApi", "ModelInfo", "snapshot_download"):
        module = "_snapshot_download" if name == "snapshot_download" else "hf_api"
        return getattr(importlib.import_module("huggingface_hub." + module), name)
    raise AttributeError(name)
)"},
    {"huggingface_hub/hf_api.py", R"(
class ModelInfo:
    pass
class HfApi:
    def model_info(self):
        return ModelInfo()
)"},
    {"huggingface_hub/_snapshot_download.py", R"(
from .hf_api import HfApi
def snapshot_download():
    return HfApi().model_info()
)"},
    {"transformers/hub.py", R"(
from huggingface_hub import HfApi, snapshot_download
def api(): return HfApi()
def download(): return snapshot_download()
)"},
    {"transformers/integrations/settings.py", R"(
FOLDER = "somewhere"
SIZES: tuple = (
    1,
    2,
)
KINDS = frozenset(("a", "b"))
KNOWN = {"a"}
__version__ = "1.2"
if True:
    LEVEL = "high"
FUNCTIONS = {"twice": lambda x: 2 * x}
)"},
    {"transformers/configured.py", R"(
import os
from .integrations.settings import FOLDER, FUNCTIONS, KINDS, KNOWN, SIZES, __version__
PATH = os.path.join("/", FOLDER)
VERSION = "v" + __version__
def all_kinds(): return sorted(KNOWN | {"c"}), sorted({"c"} | KINDS)
def twice(x): return FUNCTIONS["twice"](x)
)"},
    {"transformers/levelled.py",
     "from .integrations.settings import LEVEL\nlevel = ''.join(['a ', LEVEL])\n"},
    {"transformers/integrations/handing_on.py", "from .shapes import Shape, make_shape\n"},
    {"transformers/integrations/shapes.py", R"(
class Shape:
    corners = 0
def make_shape(): return Shape()
)"},
    {"transformers/square.py", R"(
from .integrations.handing_on import Shape, make_shape
class Square(Shape):
    corners = 4
def make(): return make_shape()
)"},
    {"transformers/marked.py", R"(
import torch
from torch._dynamo import allow_in_graph
@allow_in_graph
class Doubling(torch.nn.Module):
    def forward(self, x): return 2 * x
)"},
    {"transformers/integrations/tables.py",
     "from .layers import added, doubled\nfunctions = {'added': added, 'doubled': doubled}\n"},
    {"transformers/registry.py", "kinds = {}\nall_kinds = []\n"},
    {"transformers/registered/__init__.py", R"(
from .. import registry
from ..integrations.layers import doubled, halved

def register(name, function):
    registry.kinds[name + function.__name__] = function  # (its name: this executes the module)
    registry.all_kinds.append(function)

register("by two: ", doubled)
register("by two: ", halved)
)"},
    {"peft/__init__.py", "from .tuner import weights\n"},
    {"peft/tuner.py", R"(
import sympy
def weights(): return [1, 2]
)"},
    {"diffusers/__init__.py", "import peft\nimport sympy\n"},
    {"of_picklers/ray/cloudpickle/cloudpickle.py", R"(
import collections, copyreg, pickle, types
class CloudPickler(pickle.Pickler):
    _dispatch_table = {types.ModuleType: lambda module: (__import__, (module.__name__,))}
    dispatch_table = collections.ChainMap(_dispatch_table, copyreg.dispatch_table)
)"},
    {"of_picklers/dill/_dill.py", R"(
import pickle, types
class Pickler(pickle._Pickler):
    dispatch = {**pickle._Pickler.dispatch}
def save_module(pickler, module):
    pickler.save_reduce(__import__, (module.__name__,), obj=module)
Pickler.dispatch[types.ModuleType] = save_module
)"},
    {"of_the_user/__init__.py", "import yaml\nimport seldom_used.part\nseldom = seldom_used\n"},
    {"seldom_used/__init__.py", "answer = 42\n"},
    {"seldom_used/part.py", "answer = 43\n"},
    {"transformers/integrations/fails.py", "import a_module_that_is_not_there\n"},
    {"transformers/integrations/layers.py", R"(
class Cache:
    pass

def added(x, more=1):
    return x if isinstance(x, Cache) else x + more

def doubled(x, factor=2):
    return x * factor

def halved(x, by=2):
    return x / by

def negated(x, factor=-1):
    return x * factor

def scaled(self, x, more=1):
    return x * self.scale + more
)"},
    {"transformers/integrations/shapes_of_two.py", R"(
class Circle:
    __match_args__ = ("radius",)
    def __init__(self, radius):
        self.radius = radius

class Point:
    pass
)"},
    {"transformers/matching.py", R"(
from .integrations import shapes_of_two
from .integrations.shapes_of_two import Circle, Point

def radius(shape):
    match shape:
        case Circle(radius):
            return radius
        case [Point(), *_]:
            return 0
        case shapes_of_two.Point():
            return -1
    return None
)"},
    {"transformers/tabled.py", R"(
import functools
from .integrations.layers import Cache, added, doubled, halved, negated, scaled

class Table:
    functions = {"doubled": doubled}
    def __getitem__(self, name):
        return self.functions[name]

class Layer:
    scale = 3
    scaled = scaled
    def __init__(self):
        self.added = added

def negating():
    function = negated
    return lambda x: function(x)

table, steps, layer, negate = Table(), [halved], Layer(), negating()
caches = (Cache, int)
doubled_again = functools.partial(doubled, factor=3)

def of_default(x, function=doubled):
    return x if isinstance(x, Cache) else function(x)

def model(x):
    if isinstance(x, caches):
        return x
    x = of_default(layer.scaled(table["doubled"](x)))
    return negate(layer.added(steps[0](doubled_again(x))))
)"},
    {"transformers/modeling.py", R"(
import torch
import sympy
from sympy import Symbol
from . import integrations
from .generation.utils import generate, is_proxy
from .integrations import moe
try:
    from .integrations import fails
except ImportError:
    fails = None

@torch.compiler.disable
def disabled(x):
    "Called as it is."
    return x.sin()

@torch.compiler.disable(recursive=False)
def disabled_itself(x):
    return x.cos()

@torch._dynamo.allow_in_graph
def allowed(x):
    return x * 2

@torch._dynamo.assume_constant_result
def constant():
    return 3

def add_constant(x):
    return x + constant()

def model(x):
    x = disabled(x) + 1
    x = disabled_itself(x) - 1
    return allowed(x)

def next_number():
    # A class is scripted with the names around the call: of the frame that calls.
    def increased(n: int) -> int:
        return n + 1
    class Number:
        def __init__(self):
            self.n = 1
        def next(self) -> int:
            return increased(self.n)
    torch.jit.script(Number)
    return torch.jit._state._get_script_class(Number).qualified_name(), Number().next()
)"},
};

class SlimImporters : public testing::Test {
 protected:
  SlimImporters() {
    for (const auto& [name, content] : kFiles) {
      const fs::path file = folder_ / name;
      fs::create_directories(file.parent_path());
      std::ofstream(file) << content;
    }
    imports_ = "import sys, torch\nsys.path.insert(0, " + quoted(folder_) +
               ")\nsys.dont_write_bytecode = True\nfrom transformers import modeling\n"
               "def kind(name): return type(sys.modules[name]).__name__\n";
  }

  ~SlimImporters() override { fs::remove_all(folder_); }

  static std::string quoted(const fs::path& path) { return "r'" + path.string() + "'"; }

  /// The same in an interpreter with slimTorch and in one without.
  void expectEqual(const std::string& statements, const std::string& expression) {
    const Interpreter usual = interpreter(false);
    const Interpreter slim = interpreter(true);
    EXPECT_EQ(text(slim, imports_ + statements, expression),
              text(usual, imports_ + statements, expression));
  }

  const fs::path folder_ = testing_support::makeTemporaryFolder();
  std::string imports_;
};

TEST_F(SlimImporters, ExecuteNothingThatIsNotUsed) {
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(text(slim, imports_,
                 "[kind(n) for n in ('transformers.modeling', 'transformers.generation.utils', "
                 "'transformers.integrations.moe', 'torch._dynamo', 'sympy')]"),
            "['module', 'LazyModule', 'LazyModule', 'LazyModule', 'LazyModule']");
  EXPECT_EQ(text(slim, imports_, "(modeling.generate(1), kind('transformers.generation.utils'))"),
            "(2, 'module')");
  EXPECT_EQ(text(slim, imports_, "(modeling.is_proxy(1), kind('torch.fx'))"),
            "(False, 'LazyModule')");
  EXPECT_EQ(text(slim, imports_, "str(modeling.Symbol('x') + 1)"), "x + 1");
}

TEST_F(SlimImporters, GetWhatAModuleHandsOnWhenTheyUseIt) {
  const std::string statements = "from transformers import hub\n";
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(
      text(slim, imports_ + statements,
           "[kind(n) for n in ('huggingface_hub.hf_api', 'huggingface_hub._snapshot_download')]"),
      "['LazyModule', 'LazyModule']");
  EXPECT_EQ(text(slim, imports_ + statements,
                 "(hub.api().model_info() is None, type(hub.HfApi), "
                 "kind('huggingface_hub._snapshot_download'))"),
            "(False, <class 'type'>, 'LazyModule')");
  expectEqual(statements,
              "(type(hub.download()).__name__, type(hub.api()) is hub.HfApi, "
              "type(hub.snapshot_download).__name__)");
  // The program itself gets the objects.
  expectEqual(statements + "from huggingface_hub import HfApi, ModelInfo\n",
              "(type(HfApi), HfApi is hub.HfApi, isinstance(hub.download(), ModelInfo))");
  expectEqual(statements + "import huggingface_hub.hf_api as direct\n",
              "(type(direct.HfApi), isinstance(hub.api(), direct.HfApi))");
}

// Code of C takes no LazyName for a str, and an operator has to be that of the value.
TEST_F(SlimImporters, HaveConstantsAsTheyAre) {
  const std::string statements = "from transformers import configured\n";
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(text(slim, imports_ + statements,
                 "(configured.PATH, configured.VERSION, configured.SIZES, type(configured.FOLDER), "
                 "kind('transformers.integrations.settings'))"),
            "('/somewhere', 'v1.2', (1, 2), <class 'str'>, 'LazyModule')");
  expectEqual(statements, "(configured.all_kinds(), configured.twice(4))");
  // What no line of the module's own assigns is there when it has been executed.
  EXPECT_EQ(text(slim, imports_ + "from transformers import levelled\n",
                 "(levelled.level, kind('transformers.integrations.settings'))"),
            "('a high', 'module')");
}

TEST_F(SlimImporters, GetWhatALazyModuleHasFromAnother) {
  expectEqual("from transformers import square\n",
              "(square.Square.corners, square.Square.__mro__[1].__name__, "
              "type(square.make()).__name__, isinstance(square.make(), square.Shape))");
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(text(slim, imports_ + "from transformers import square\nmade = square.make()\n",
                 "[type(each) for each in (square.Shape, square.make_shape)]"),
            "[<class 'type'>, <class 'function'>]");
}

TEST_F(SlimImporters, MarkClassesForTheCompiler) {
  const std::string statements = "from transformers import marked\nmodel = marked.Doubling()\n";
  expectEqual(statements, "(model(torch.ones(2)), type(marked.Doubling))");
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(text(slim, imports_ + statements, "(model(torch.ones(2)), kind('torch._dynamo'))"),
            "(tensor([2., 2.]), 'LazyModule')");
  expectEqual(statements, "id(marked.Doubling) in torch._dynamo.trace_rules._allowed_callable_ids");
}

TEST_F(SlimImporters, AreOtherPackagesThanTransformersToo) {
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(text(slim, imports_ + "import diffusers\n", "(kind('peft.tuner'), kind('sympy'))"),
            "('LazyModule', 'LazyModule')");
  EXPECT_EQ(
      text(slim, imports_ + "import diffusers\n", "(diffusers.peft.weights(), kind('peft.tuner'))"),
      "([1, 2], 'module')");
}

TEST_F(SlimImporters, AreThePackagesThatTheProgramNames) {
  const std::string statements = imports_ + "import of_the_user\n";
  const std::string kinds = "[kind(n) for n in ('yaml', 'seldom_used', 'seldom_used.part')]";
  EXPECT_EQ(text(interpreter(true), statements, kinds), "['module', 'module', 'module']");
  InterpreterOptions options;
  options.slimImporters = {"of_the_user"};
  EXPECT_EQ(text(interpreter(options), statements, kinds), "['LazyModule', 'module', 'module']");
  options.slimModules = {"seldom_used"};
  const Interpreter slim = interpreter(options);
  EXPECT_EQ(text(slim, statements, kinds), "['LazyModule', 'LazyModule', 'LazyModule']");
  EXPECT_EQ(text(slim, statements, "(of_the_user.seldom.part.answer, of_the_user.seldom.answer)"),
            "(43, 42)");
}

TEST_F(SlimImporters, MayReplaceTheirPackages) {
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(
      text(slim, imports_, "(modeling.integrations.answer, kind('transformers.integrations'))"),
      "(42, 'Replaced')");
}

TEST_F(SlimImporters, RaiseWhatAModuleRaisesAtItsFirstUseAndAtEachLater) {
  const Interpreter slim = interpreter(true);
  const std::string uses = R"(
errors = []
for _ in range(2):
    try:
        modeling.fails.anything
    except ModuleNotFoundError as error:
        errors.append(error.name)
)";
  EXPECT_EQ(text(slim, imports_ + uses, "errors"),
            "['a_module_that_is_not_there', 'a_module_that_is_not_there']");
}

TEST_F(SlimImporters, CatchExceptions) {
  const std::string numbers = "from transformers import numbers\n";
  expectEqual(numbers, "(numbers.number('1 + 2'), numbers.number('1 +'))");
  const Interpreter slim = interpreter(true);
  const std::string lookUp = R"(
def look_up(x):
    try: return {}[x]
    except (numbers.NotANumber, numbers.TemplateError): return 1
    except KeyError: return 2
)";
  EXPECT_EQ(text(slim, imports_ + numbers + lookUp, "look_up(1)"), "2");
}

// The program imports it from a module that has it from a lazy one.
TEST_F(SlimImporters, HandRealClassesOnToPrograms) {
  const std::string imports = "from transformers.matching import Circle\n";
  const std::string match = R"(
def radius(shape):
    match shape:
        case Circle(r): return r
import inspect
)";
  expectEqual(imports + match,
              "(radius(1), radius(Circle(2)), str(inspect.signature(Circle)), "
              "type('Round', (Circle,), {}).__mro__[1] is Circle, type(Circle(3)) is Circle)");
  expectEqual("from transformers.integrations.handing_on import Shape\n", "type(Shape)");
  expectEqual("from transformers.matching import *\n" + match, "(radius(1), radius(Circle(2)))");
}

TEST_F(SlimImporters, MatchClasses) {
  expectEqual("from transformers import matching as m\n",
              "(m.radius(3), m.radius(m.Circle(4)), m.radius([m.Point()]), m.radius(m.Point()))");
}

// The parts that torch._dynamo makes of the model are as many, with as many operators.
TEST_F(SlimImporters, DecorateForTheCompiler) {
  expectEqual(R"(
x = torch.arange(3.0)
eager = modeling.model(x)
found = torch._dynamo.explain(modeling.model)(x)
try:
    sum = torch.compile(modeling.add_constant, backend="eager", fullgraph=True)(x)
except TypeError as error:
    sum = error  # torch 2.4
)",
              "(eager, sum, found.graph_count, found.op_count, modeling.disabled.__doc__, "
              "torch.compile(modeling.model, backend='eager')(x))");
}

// Its guards look in C at what is in tables, lists, cells, attributes and defaults.
TEST_F(SlimImporters, CompileFunctionsThatTheyHaveInTables) {
  const std::string statements = R"(
from transformers import tabled
x = torch.arange(3.0)
)";
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(text(slim, imports_ + statements, "kind('transformers.integrations.layers')"),
            "LazyModule");
  expectEqual(statements,
              "(torch.compile(tabled.model, backend='eager', fullgraph=True)(x), tabled.model(x))");
  expectEqual(
      statements + "torch.compile(tabled.model, backend='eager')(x)\n",
      "[type(f).__name__ for f in (tabled.Table.functions['doubled'], tabled.steps[0], "
      "vars(tabled.Layer)['scaled'], tabled.layer.added, tabled.of_default.__defaults__[0], "
      "tabled.negate.__closure__[0].cell_contents, tabled.caches[0], "
      "tabled.doubled_again.func)]");
}

// Of theirs, of their classes, and of modules that import nothing of it.
TEST_F(SlimImporters, HaveRealFunctionsInTablesOnceTheyAreExecuted) {
  const std::string statements = "from transformers import tabled\n";
  const std::string kinds =
      "[type(f).__name__ for f in (tabled.Table.functions['doubled'], tabled.steps[0])]";
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(text(slim, imports_ + statements, kinds), "['LazyName', 'LazyName']");
  expectEqual(statements + "from transformers.integrations.layers import doubled, halved\n" +
                  "names = {}\nexec('from transformers.tabled import *', names)\n",
              "(" + kinds +
                  ", tabled.table['doubled'] is doubled, tabled.steps[0] is halved, "
                  "names['doubled'] is doubled)");
  // The program imports the table itself.
  expectEqual(statements + "from transformers.tabled import steps\n", "[type(f) for f in steps]");
  expectEqual("from transformers.integrations.tables import functions\n",
              "[(name, type(f)) for name, f in functions.items()]");
  expectEqual("from transformers import registered, registry\n",
              "([(name, type(f)) for name, f in registry.kinds.items()], "
              "[type(f) for f in registry.all_kinds])");
}

TEST_F(SlimImporters, HaveMethodsOfLazyModules) {
  expectEqual("from transformers import tabled\n",
              "(tabled.layer.scaled(2), tabled.Layer.scaled(tabled.layer, 3))");
}

TEST_F(SlimImporters, MayReferWeaklyToWhatTheyImport) {
  expectEqual(R"(
import gc, weakref
from transformers import tabled
names = weakref.WeakKeyDictionary({tabled.doubled: "doubled"})
gc.collect()
)",
              "(names[tabled.doubled], len(names), tabled.doubled(2))");
}

TEST_F(SlimImporters, DisableWhatIsNoFunctionRightAway) {
  expectEqual(R"(
model = torch.compiler.disable(torch.nn.ReLU())
try:
    with torch.compiler.disable(): y = model(torch.ones(2))
except RuntimeError as error:
    y = error
)",
              "(type(model).__name__, y)");
}

TEST_F(SlimImporters, MakeOperatorsOfTheirOwn) {
  expectEqual("y = modeling.moe.twice(torch.ones(2))",
              "(y, torch.ops.slim_importers.twice(y), torch.compile(modeling.moe.twice, "
              "backend='eager', fullgraph=True)(y))");
  // An operator that goes, at the latest when the interpreter ends, executes nothing either.
  const Interpreter slim = interpreter(true);
  EXPECT_EQ(text(slim, imports_ + R"(
modeling.moe.twice
import weakref
for finalizer in list(weakref.finalize._registry):
    if finalizer.peek() and finalizer.peek()[1].__name__ == "_del_library": finalizer()
)",
                 "kind('torch.fx')"),
            "LazyModule");
}

// By its name, which executes nothing. pickle itself refuses it as any module.
TEST_F(SlimImporters, HaveModulesPickledByThePackagesThatDoSo) {
  const std::string pickled = R"(
import io, pickle
def pickled(pickler):
    file = io.BytesIO()
    try:
        pickler(file).dump({"sympy": modeling.sympy})
        return pickle.loads(file.getvalue())["sympy"] is modeling.sympy
    except TypeError as error:
        return str(error)
)";
  const std::string path =
      "import sys\nsys.path.insert(0, " + quoted(folder_ / "of_picklers") + ")\n";
  const std::string uses = path + pickled + R"(
from ray.cloudpickle import cloudpickle
from dill import _dill
by_packages = pickled(cloudpickle.CloudPickler), pickled(_dill.Pickler), kind("sympy")
)";
  EXPECT_EQ(text(interpreter(true), imports_ + uses, "by_packages"), "(True, True, 'LazyModule')");
  expectEqual(uses, "(by_packages[:2], pickled(pickle.Pickler))");
  const std::string before = path + "import dill._dill\nimport ray.cloudpickle.cloudpickle\n";
  EXPECT_EQ(text(interpreter(true), before + imports_ + uses, "by_packages"),
            "(True, True, 'LazyModule')");
}

TEST_F(SlimImporters, AreTheCallersOfWhatTheyCall) { expectEqual("", "modeling.next_number()"); }

}  // namespace
}  // namespace multipy::runtime
