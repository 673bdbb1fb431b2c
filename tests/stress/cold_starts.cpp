// The first requests of a server: threads that begin at one moment in interpreters that have
// done nothing yet, each with another way into torch.
//
//   cold_starts PACKAGE [--starts N] [--seed S] [--whole-torch] [--act NAME]... [--list]
//
// A cold start is one fresh interpreter and six threads that wait for each other; three begin
// with one act and three with another one. All pairs of acts are gone through in an order
// that the seed decides, over and over, until N starts are done (default: each pair once).
// PACKAGE is simple.pt of tests/runtime/make_packages.py. Exit status 1 if any act failed; each
// failure is printed with the pair it came up in. Acts that import transformers are done where
// they are named.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/package.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iostream>
#include <latch>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace multipy::runtime;

constexpr int kThreads = 6;

constexpr const char* kWork = R"(
import torch

def double(x):
    return torch.nn.functional.relu(x) * 2

class Scale:
    def __init__(self, by):
        self.by = torch.full((2,), float(by))
    def __call__(self, x):
        return x * self.by
)";

// Modules that import lazily, as functions of real programs do.
constexpr const char* kLazily = R"(
def threads(x):
    import threading
    results = []
    def work():
        import torch.nn.functional as functional
        results.append(functional.relu(x).sum().item())
    started = [threading.Thread(target=work) for _ in range(3)]
    for each in started: each.start()
    for each in started: each.join()
    assert results == [x.sum().item()] * 3, results
    return x + x

def modules(x):
    import importlib
    for name in ("torch.nn.utils", "torch.optim.lr_scheduler", "torch.utils.data"):
        module = importlib.import_module(name)
        assert module.__name__ == name and not module.__spec__._initializing
    return x * 2

def trace(x):
    # (Not symbolic_trace(), which is for one thread at a time.)
    from torch import fx
    import operator
    graph = fx.Graph()
    value = graph.placeholder("value")
    graph.output(graph.call_function(operator.add, (value, value)))
    return fx.GraphModule({}, graph)(x)

def gradient(x):
    from torch.autograd import grad
    import torch
    y = torch.ones(2, requires_grad=True)
    (result,) = grad((y * 2 * x).sum(), y)
    return result

def random_numbers(x):
    import numpy.random
    import numpy.linalg
    assert numpy.linalg.norm(numpy.random.default_rng(0).random(3)) > 0
    return x + x

def scripted(x):
    import torch
    @torch.jit.script
    def twice(value):
        return value + value
    return twice(x)

def models(x):
    from transformers import BertConfig, BertModel
    config = BertConfig(vocab_size=16, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
                        intermediate_size=8)
    assert BertModel(config).eval().config.hidden_size == 8
    return x * 2

def model_parts(x):
    from transformers.models.bert import modeling_bert
    import transformers
    assert modeling_bert.BertModel is transformers.BertModel
    return x * 2

def packaged(x):
    from torch.package import PackageExporter, PackageImporter
    import io
    buffer = io.BytesIO()
    with PackageExporter(buffer) as exporter:
        exporter.save_pickle("kept", "x.pkl", x)
    buffer.seek(0)
    return PackageImporter(buffer).load_pickle("kept", "x.pkl") * 2
)";

/// One interpreter that has done nothing yet.
struct Start {
  Start(const std::string& path, const InterpreterManagerOptions& options)
      : manager(1, options), package(manager.loadPackage(path)) {
    manager.registerModuleSource("work", kWork);
    manager.registerModuleSource("lazily", kLazily);
  }

  InterpreterManager manager;
  Package package;
  const at::Tensor x = at::ones({2});
  const at::Tensor batch = at::ones({10, 20});  // what the package's model takes
};

void expect(bool right, const char* what) {
  if (!right) throw std::runtime_error(std::string("wrong answer: ") + what);
}

void expectTwice(const Start& start, const at::IValue& answer) {
  expect(answer.isTensor() && at::equal(answer.toTensor(), start.x * 2), "not twice the input");
}

void callGlobal(Start& start, const char* module, const char* function) {
  auto session = start.manager.acquireOne();
  expectTwice(start, session.global(module, function)({start.x}).toIValue());
}

struct Act {
  const char* name;
  void (*perform)(Start&);
  bool ifNamed = false;  // what it imports need not be there
};

const Act kActs[] = {
    {"load_pickle",
     [](Start& start) {
       auto session = start.package.acquireSession();
       const auto model = session.self.attr("load_pickle")({"model", "model.pkl"});
       expect(model({start.batch}).toIValue().isTensor(), "no tensor");
     }},
    {"loadPickle",
     [](Start& start) {
       const auto model = start.package.loadPickle("model", "model.pkl");
       expect(model({start.batch}).isTensor(), "no tensor");
     }},
    {"registered", [](Start& start) { callGlobal(start, "work", "double"); }},
    {"fromIValue",
     [](Start& start) {
       auto session = start.manager.acquireOne();
       expect(at::equal(session.fromIValue(start.x).toIValue().toTensor(), start.x),
              "another tensor");
     }},
    {"torch.ones",
     [](Start& start) {
       auto session = start.manager.acquireOne();
       expect(at::equal(session.global("torch", "ones")({2}).toIValue().toTensor(), start.x),
              "no ones");
     }},
    {"numpy",
     [](Start& start) {
       auto session = start.manager.acquireOne();
       expect(session.global("numpy", "ones")({2}).attr("size").toIValue().toInt() == 2, "size");
     }},
    {"createMovable",
     [](Start& start) {
       auto session = start.manager.acquireOne();
       const auto scale = session.createMovable(session.global("work", "Scale")({2}));
       expectTwice(start, scale({start.x}));
     }},
    {"torch.nn",
     [](Start& start) {
       auto session = start.manager.acquireOne();
       expect(session.global("torch.nn", "Linear")({2, 3}).hasattr("weight"), "no weight");
     }},
    {"threads", [](Start& start) { callGlobal(start, "lazily", "threads"); }},
    {"import_module", [](Start& start) { callGlobal(start, "lazily", "modules"); }},
    {"torch.fx", [](Start& start) { callGlobal(start, "lazily", "trace"); }},
    {"autograd", [](Start& start) { callGlobal(start, "lazily", "gradient"); }},
    {"numpy.random", [](Start& start) { callGlobal(start, "lazily", "random_numbers"); }},
    {"torch.jit", [](Start& start) { callGlobal(start, "lazily", "scripted"); }},
    {"torch.package", [](Start& start) { callGlobal(start, "lazily", "packaged"); }},
    {"transformers", [](Start& start) { callGlobal(start, "lazily", "models"); }, true},
    {"transformers.models", [](Start& start) { callGlobal(start, "lazily", "model_parts"); }, true},
};

struct Options {
  std::string package;
  std::size_t starts = 0;
  unsigned seed = 0;
  bool slimTorch = true;
  std::vector<const Act*> acts;
};

const Act& actNamed(const std::string& name) {
  for (const Act& act : kActs)
    if (name == act.name) return act;
  throw std::invalid_argument("there is no act " + name + "; --list shows them");
}

Options parsed(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (++i == count) throw std::invalid_argument(word + " needs a value");
      return words[i];
    };
    if (word == "--starts")
      options.starts = std::stoul(value());
    else if (word == "--seed")
      options.seed = static_cast<unsigned>(std::stoul(value()));
    else if (word == "--whole-torch")
      options.slimTorch = false;
    else if (word == "--act")
      options.acts.push_back(&actNamed(value()));
    else if (options.package.empty() && !word.starts_with("--"))
      options.package = word;
    else
      throw std::invalid_argument("unknown argument " + word);
  }
  if (options.package.empty()) throw std::invalid_argument("expected the path of a package");
  if (options.acts.empty())
    for (const Act& act : kActs)
      if (!act.ifNamed) options.acts.push_back(&act);
  return options;
}

using Pair = std::pair<const Act*, const Act*>;

std::vector<Pair> allPairs(const std::vector<const Act*>& acts) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < acts.size(); ++i)
    for (std::size_t j = i; j < acts.size(); ++j) pairs.emplace_back(acts[i], acts[j]);
  return pairs;
}

/// How many of the threads failed. Says why the first one did.
int coldStart(const Options& options, const Pair& pair) {
  InterpreterManagerOptions settings;
  settings.interpreters.slimTorch = options.slimTorch;
  Start start(options.package, settings);
  std::latch together(kThreads);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      const Act& act = i % 2 == 0 ? *pair.first : *pair.second;
      together.arrive_and_wait();
      try {
        act.perform(start);
      } catch (const std::exception& error) {
        if (failed.fetch_add(1) == 0)
          std::cerr << pair.first->name << " beside " << pair.second->name << ": " << act.name
                    << " failed: " << error.what() << "\n";
      }
    });
  for (auto& thread : threads) thread.join();
  return failed;
}

int run(const Options& options) {
  at::set_num_threads(1);
  std::vector<Pair> pairs = allPairs(options.acts);
  std::shuffle(pairs.begin(), pairs.end(), std::mt19937(options.seed));
  const std::size_t starts = options.starts ? options.starts : pairs.size();
  std::size_t failed = 0;
  for (std::size_t i = 0; i < starts; ++i) {
    failed += coldStart(options, pairs[i % pairs.size()]) > 0;
    if ((i + 1) % 25 == 0)
      std::cout << i + 1 << " of " << starts << " cold starts, " << failed << " failed"
                << std::endl;
  }
  std::cout << starts << " cold starts" << (options.slimTorch ? "" : " without slimTorch")
            << " (seed " << options.seed << "), " << failed << " failed\n";
  return failed > 0;
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::strcmp(words[1], "--list") == 0) {
    for (const Act& act : kActs) std::cout << act.name << "\n";
    return 0;
  }
  try {
    return run(parsed(count, words));
  } catch (const std::exception& error) {
    std::cerr << "cold_starts: " << error.what() << "\n";
    return 2;
  }
}
