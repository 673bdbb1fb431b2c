// What Package::loadPickle() gives: an object that each interpreter loads from the package
// itself, over storages that lie once for all.
#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "runtime/packages/package_storages.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::runtime {
namespace {

using testing_support::expectError;

std::string packagePath(const char* name) {
  return std::string(MULTIPY_TEST_PACKAGES) + "/" + name;
}

// One manager for all tests: importing torch takes most of their time.
class PackagedPickles : public testing::Test {
 protected:
  static constexpr int kInterpreters = 3;
  static void SetUpTestSuite() { shared = std::make_unique<InterpreterManager>(kInterpreters); }
  static void TearDownTestSuite() { shared.reset(); }

  ReplicatedObj load(const char* package, const char* file) {
    return manager.loadPackage(packagePath(package)).loadPickle("model", file);
  }

  // In all interpreters, one after the other.
  template <typename Use>
  void inEach(ReplicatedObj& object, Use&& use) {
    for (const Interpreter& interpreter : manager.allInstances()) {
      auto I = object.acquireSession(&interpreter);
      use(I);
    }
  }

  // The same at one moment, by `threads` threads each.
  template <typename Use>
  void inEachAtOnce(ReplicatedObj& object, int threads, Use&& use) {
    std::latch ready(kInterpreters * threads);
    std::vector<std::jthread> all;
    for (const Interpreter& interpreter : manager.allInstances())
      for (int i = 0; i < threads; ++i)
        all.emplace_back([&] {
          at::NoGradGuard noGradientsHere;
          ready.arrive_and_wait();
          auto I = object.acquireSession(&interpreter);
          use(I);
        });
  }

  void mark(const Interpreter& interpreter, const char* name, bool set) {
    auto I = interpreter.acquireSession();
    Obj sys = I.global("builtins", "__import__")({"sys"});
    if (set)
      sys.attr("__setattr__")({name, true});
    else
      sys.attr("__delattr__")({name});
  }

  // How often an object of loading_code.py has been loaded there.
  static int64_t loads(ReplicatedObj& object, const Interpreter& interpreter) {
    return object.acquireSession(&interpreter).self.attr("loads")({}).toIValue().toInt();
  }

  at::NoGradGuard noGradients;
  InterpreterManager& manager = *shared;

 private:
  static inline std::unique_ptr<InterpreterManager> shared;
};

std::vector<void*> addresses(const at::IValue& tensors) {
  std::vector<void*> result;
  for (const at::IValue& each : tensors.toListRef()) result.push_back(each.toTensor().data_ptr());
  return result;
}

TEST_F(PackagedPickles, TracedModuleThatCallsAFunctionOfItsPackage) {
  ReplicatedObj model = load("leafy.pt", "model.pkl");
  const at::Tensor input = at::ones({5, 20});
  const at::Tensor expected = model({input}).toTensor();
  std::set<void*> weights;
  std::mutex mutex;
  inEachAtOnce(model, 2, [&](InterpreterSession& I) {
    EXPECT_TRUE(I.self({input}).toIValue().toTensor().equal(expected));
    void* const weight = I.self.attr("linear").attr("weight").toIValue().toTensor().data_ptr();
    const std::lock_guard lock(mutex);
    weights.insert(weight);
  });
  EXPECT_EQ(weights.size(), 1u);
}

TEST_F(PackagedPickles, TorchScriptInsideAModuleOfPythons) {
  ReplicatedObj model = load("scripted.pt", "model.pkl");
  const at::Tensor input = at::ones({2, 8});
  const std::vector<void*> lie =
      addresses(model.acquireSession().self.attr("weights")({}).toIValue());
  EXPECT_EQ(std::set<void*>(lie.begin(), lie.end()).size(), 3u);
  EXPECT_EQ(lie[0], lie[1]);
  EXPECT_EQ(lie[0], lie[2]);
  inEachAtOnce(model, 2, [&](InterpreterSession& I) {
    // eye * 2 + eye * 3 + eye, ones, and 1
    EXPECT_TRUE(I.self({input}).toIValue().toTensor().equal(at::full({2, 8}, 15.0)));
    EXPECT_EQ(addresses(I.self.attr("weights")({}).toIValue()), lie);
    EXPECT_TRUE(I.self.attr("is_one_storage")({}).toIValue().toBool()) << "as in plain Python";
  });
}

TEST_F(PackagedPickles, TorchScriptBeforeTheTensorItHas) {
  ReplicatedObj both = load("scripted.pt", "reversed.pkl");
  std::set<void*> weights;
  inEach(both, [&](InterpreterSession& I) {
    for (void* each : addresses(I.self.attr("weights")({}).toIValue())) weights.insert(each);
    EXPECT_TRUE(I.self.attr("is_one_storage")({}).toIValue().toBool());
  });
  EXPECT_EQ(weights.size(), 1u);
}

TEST_F(PackagedPickles, TorchScriptAlone) {
  ReplicatedObj script = load("scripted.pt", "script.pkl");
  std::set<void*> weights;
  inEach(script, [&](InterpreterSession& I) {
    EXPECT_TRUE(I.self({at::ones({1, 8})}).toIValue().toTensor().equal(at::full({1, 8}, 8.0)));
    weights.insert(I.self.attr("weight").toIValue().toTensor().data_ptr());
  });
  EXPECT_EQ(weights.size(), 1u);
}

TEST_F(PackagedPickles, ObjectThatCannotBePickledAgain) {
  ReplicatedObj stubborn = load("loading.pt", "stubborn.pkl");
  const at::Tensor input = at::ones({1, 8});
  std::set<void*> weights;
  inEach(stubborn, [&](InterpreterSession& I) {
    EXPECT_TRUE(I.self({input}).toIValue().toTensor().equal(at::full({1, 8}, 16.0)));
    expectError<PythonException>([&] { manager.createMovable(I.self, &I); }, {"pickle"});
    weights.insert(I.self.attr("weight").toIValue().toTensor().data_ptr());
  });
  EXPECT_EQ(weights.size(), 1u);
}

TEST_F(PackagedPickles, ReducePackageMayReadMoreOfThePackage) {
  ReplicatedObj noted = load("loading.pt", "noted.pkl");
  std::set<void*> weights;
  inEach(noted, [&](InterpreterSession& I) {
    EXPECT_EQ(I.self({"!"}).toIValue().toStringRef(), "packed!");
    const at::Tensor weight = I.self.attr("weight").toIValue().toTensor();
    EXPECT_TRUE(weight.equal(at::full({8, 8}, 2.0)));
    weights.insert(weight.data_ptr());
  });
  EXPECT_EQ(weights.size(), 1u) << "what its code loads is shared as well";
}

TEST_F(PackagedPickles, ThreadsOfAnInterpreterLoadItOnce) {
  ReplicatedObj stubborn = load("loading.pt", "stubborn.pkl");
  inEachAtOnce(stubborn, 4, [](InterpreterSession& I) { EXPECT_TRUE(I.self.hasattr("weight")); });
  for (const Interpreter& interpreter : manager.allInstances())
    EXPECT_EQ(loads(stubborn, interpreter), 1);
}

TEST_F(PackagedPickles, WeightsExistOnceForAllInterpretersAndCpp) {
  ReplicatedObj model = load("simple.pt", "model.pkl");
  std::set<void*> weights;
  at::Tensor weight;
  inEach(model, [&](InterpreterSession& I) {
    weight = I.self.attr("weight").toIValue().toTensor();
    weights.insert(weight.data_ptr());
    weights.insert(reinterpret_cast<void*>(I.self.attr("weight_address")({}).toIValue().toInt()));
  });
  EXPECT_EQ(weights.size(), 1u);
  EXPECT_TRUE(weight.equal(at::arange(200, at::kFloat).reshape({10, 20})));
}

TEST_F(PackagedPickles, TwoLoadsHaveNothingInCommon) {
  Package package = manager.loadPackage(packagePath("simple.pt"));
  ReplicatedObj one = package.loadPickle("model", "model.pkl");
  ReplicatedObj two = package.loadPickle("model", "model.pkl");
  const auto weight = [](ReplicatedObj& object) {
    return object.acquireSession().self.attr("weight").toIValue().toTensor();
  };
  weight(one).zero_();
  EXPECT_EQ(weight(one).sum().item<float>(), 0);
  EXPECT_GT(weight(two).sum().item<float>(), 0);
}

TEST_F(PackagedPickles, LoadedAnewAfterUnloadOverTheSameBytes) {
  ReplicatedObj stubborn = load("loading.pt", "stubborn.pkl");
  std::set<void*> weights;
  const auto see = [&](InterpreterSession& I) {
    weights.insert(I.self.attr("weight").toIValue().toTensor().data_ptr());
  };
  inEach(stubborn, see);
  stubborn.unload(&manager.allInstances()[0]);
  inEach(stubborn, see);
  stubborn.unload();
  inEach(stubborn, see);
  EXPECT_EQ(weights.size(), 1u);
  EXPECT_EQ(loads(stubborn, manager.allInstances()[0]), 3);
  EXPECT_EQ(loads(stubborn, manager.allInstances()[1]), 2);
}

TEST_F(PackagedPickles, InterpretersThatReadAtOneMomentEndWithOneCopy) {
  const auto markAll = [&](bool set) {
    for (const Interpreter& interpreter : manager.allInstances())
      mark(interpreter, "loads_weights", set);
  };
  std::vector<ReplicatedObj> loaded;
  for (int round = 0; round < 30; ++round) {
    ReplicatedObj late = load("loading.pt", "late.pkl");  // reads no weight
    late.unload();
    markAll(true);
    std::set<void*> weights;
    std::mutex mutex;
    inEachAtOnce(late, 2, [&](InterpreterSession& I) {
      const at::Tensor weight = I.self.attr("weight").toIValue().toTensor();
      EXPECT_TRUE(weight.equal(at::full({8, 8}, 2.0)));
      const std::lock_guard lock(mutex);
      weights.insert(weight.data_ptr());
    });
    EXPECT_EQ(weights.size(), 1u);
    loaded.push_back(late);  // its bytes are not another's
    markAll(false);
  }
}

TEST_F(PackagedPickles, AnInterpreterThatCannotLoadItSaysSoWhenItIsUsedThere) {
  manager.debugLimitInterpreters(1);
  ReplicatedObj choosy = load("loading.pt", "choosy.pkl");
  manager.debugLimitInterpreters(kInterpreters);
  const Interpreter& other = manager.allInstances()[1];
  mark(other, "forbids_choosy", true);
  for (int attempt = 0; attempt < 2; ++attempt)
    expectError<PythonException>([&] { choosy.acquireSession(&other); },
                                 {"LookupError", "not in this interpreter",
                                  "while loading 'choosy.pkl' of 'model'", "loading.pt"});
  EXPECT_EQ(choosy.acquireSession(&manager.allInstances()[0]).self({7}).toIValue().toInt(), 7);
  mark(other, "forbids_choosy", false);
  EXPECT_EQ(choosy.acquireSession(&other).self({8}).toIValue().toInt(), 8);
}

TEST_F(PackagedPickles, WhatLoadsNowhereIsAnErrorAtOnce) {
  expectError<PythonException>([&] { load("loading.pt", "failing.pkl"); },
                               {"ValueError", "attempt 1", "failing.pkl", "loading.pt"});
}

TEST_F(PackagedPickles, ADamagedStorage) {
  Package package = manager.loadPackage(packagePath("damaged.pt"));
  for (int attempt = 0; attempt < 3; ++attempt)
    expectError<PythonException>([&] { package.loadPickle("model", "example.pkl"); },
                                 {"RuntimeError", ".data/1.storage", "example.pkl", "damaged.pt"});
  ReplicatedObj label = package.loadPickle("labels", "label.pkl");
  EXPECT_EQ(label({"!"}).toStringRef(), "packed!");
}

// The interpreters drop what they have with their own threads.
bool comesDownTo(long expected) {
  for (int i = 0; i < 1000 && bridge::statistics().liveTransfers > expected; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return bridge::statistics().liveTransfers <= expected;
}

TEST_F(PackagedPickles, BytesAreGivenBackWithTheObject) {
  load("scripted.pt", "model.pkl");
  const long before = bridge::statistics().liveTransfers;
  {
    ReplicatedObj model = load("scripted.pt", "model.pkl");
    inEach(model, [](InterpreterSession& I) { EXPECT_TRUE(I.self.hasattr("weight")); });
    EXPECT_GT(bridge::statistics().liveTransfers, before);
  }
  EXPECT_TRUE(comesDownTo(before)) << bridge::statistics().liveTransfers << " > " << before;
}

TEST_F(PackagedPickles, BytesAreGivenBackAfterTheManagerHasGone) {
  const auto before = bridge::statistics();
  at::Tensor weight;
  {
    ReplicatedObj model;
    {
      InterpreterManager own(2);
      model = own.loadPackage(packagePath("simple.pt")).loadPickle("model", "model.pkl");
      for (const Interpreter& interpreter : own.allInstances()) model.acquireSession(&interpreter);
      weight = model.acquireSession().self.attr("weight").toIValue().toTensor();
    }
    expectError<HandleError>([&] { model({at::ones({1, 20})}); }, {"shut down"});
  }
  EXPECT_EQ(weight.sum().item<float>(), 199 * 100);
  weight.reset();
  EXPECT_TRUE(comesDownTo(before.liveTransfers));
  EXPECT_EQ(bridge::statistics().leakedStorages, before.leakedStorages);
}

TEST(PackageStorages, TheFirstOfANameStays) {
  PackageStorages storages;
  EXPECT_FALSE(storages.find("one").defined());
  const at::Tensor first = at::ones({3}), second = at::zeros({3});
  EXPECT_TRUE(storages.keep("one", first).is_same(first));
  EXPECT_TRUE(storages.keep("one", second).is_same(first));
  EXPECT_TRUE(storages.find("one").is_same(first));
  EXPECT_TRUE(storages.keep("other", second).is_same(second));
}

TEST(PackageStorages, NamesAreListedByTheirBeginning) {
  PackageStorages storages;
  for (const char* name : {"b: 1", "a: 1", "a: 2", "ab: 1"}) storages.keep(name, at::ones({1}));
  std::vector<std::string> names;
  EXPECT_TRUE(storages.list("a: ", &names));
  EXPECT_EQ(names, (std::vector<std::string>{"a: 1", "a: 2"}));
}

}  // namespace
}  // namespace multipy::runtime
