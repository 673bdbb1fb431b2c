// Programs as they were written for torch::deploy: through its header and names,
// with its ways of passing arguments. They must compile as they are and work.
#include <gtest/gtest.h>
#include <torch/deploy.h>
#include <torch/script.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

namespace {

std::string packageFile(const std::string& name) {
  return std::string(MULTIPY_TEST_PACKAGES) + "/" + name;
}

TEST(AncestorPrograms, ModelAgainstItsTrace) {
  torch::NoGradGuard no_grad;
  torch::deploy::InterpreterManager m(2);
  torch::deploy::Package p = m.loadPackage(packageFile("simple.pt"));
  auto model = p.loadPickle("model", "model.pkl");
  at::IValue eg;
  {
    auto I = p.acquireSession();
    eg = I.self.attr("load_pickle")({"model", "example.pkl"}).toIValue();
  }
  at::Tensor output = model(eg.toTupleRef().elements()).toTensor();
  auto ref_model = torch::jit::load(packageFile("simple_jit.pt"));
  at::Tensor ref_output = ref_model.forward(eg.toTupleRef().elements()).toTensor();
  ASSERT_TRUE(ref_output.allclose(output, 1e-03, 1e-05));

  // Arguments in all their forms.
  auto input = torch::ones({10, 20});
  ASSERT_TRUE(ref_output.equal(model({input.alias()}).toTensor()));
  std::vector<torch::jit::IValue> inputs;
  inputs.push_back(input);
  ASSERT_TRUE(ref_output.equal(model(inputs).toTensor()));
  std::unordered_map<std::string, c10::IValue> kwargs;
  ASSERT_TRUE(ref_output.equal(model.callKwargs(inputs, kwargs).toTensor()));
  kwargs["input"] = input;
  ASSERT_TRUE(ref_output.equal(model.callKwargs(kwargs).toTensor()));
  ASSERT_TRUE(model.hasattr("forward"));
  ASSERT_FALSE(model.hasattr("make_prediction"));
}

TEST(AncestorPrograms, ThreadsCallOneModel) {
  torch::NoGradGuard no_grad;
  const size_t nthreads = 3;
  torch::deploy::InterpreterManager manager(nthreads);
  auto model = manager.loadPackage(packageFile("simple.pt")).loadPickle("model", "model.pkl");
  std::vector<std::future<at::Tensor>> futures;
  for (size_t i = 0; i < nthreads; ++i)
    futures.push_back(std::async(std::launch::async, [&model]() {
      torch::NoGradGuard no_grad_here;
      auto input = torch::ones({10, 20});
      for (const auto j : c10::irange(100)) {
        (void)j;
        model({input.alias()}).toTensor();
      }
      return model({input.alias()}).toTensor();
    }));
  auto expected = model({torch::ones({10, 20})}).toTensor();
  for (auto& future : futures) ASSERT_TRUE(expected.equal(future.get()));
}

TEST(AncestorPrograms, FxModule) {
  torch::NoGradGuard no_grad;
  const size_t nthreads = 3;
  torch::deploy::InterpreterManager manager(nthreads);
  torch::deploy::Package p = manager.loadPackage(packageFile("leafy.pt"));
  auto model = p.loadPickle("model", "model.pkl");
  auto input = torch::ones({5, 20});
  std::vector<at::Tensor> outputs;
  for (size_t i = 0; i < nthreads; ++i) outputs.push_back(model({input.alias()}).toTensor());
  auto ref_model = torch::jit::load(packageFile("leafy_jit.pt"));
  auto ref_output = ref_model.forward({input.alias()}).toTensor();
  for (const auto& output : outputs) ASSERT_TRUE(ref_output.equal(output));
}

TEST(AncestorPrograms, Hello) {
  multipy::runtime::InterpreterManager manager(2);
  auto I = manager.acquireOne();
  I.global("builtins", "print")({"Hello world!"});
  auto noArgs = at::ArrayRef<torch::deploy::Obj>();
  EXPECT_EQ(I.global("builtins", "list")(noArgs).attr("__len__")(noArgs).toIValue().toInt(), 0);
  I.global("runpy", "run_module").callKwargs({"json.tool"}, {{"run_name", "not_main"}});
}

TEST(AncestorPrograms, Movables) {
  torch::NoGradGuard no_grad;
  torch::deploy::InterpreterManager m(4);
  torch::deploy::ReplicatedObj empty_module;
  {
    auto I = m.acquireOne();
    auto model = I.global("torch.nn", "Module")(std::vector<torch::deploy::Obj>());
    empty_module = m.createMovable(model, &I);
  }
  empty_module.acquireSession();

  auto I = m.acquireOne();
  auto model_obj = I.global("torch.nn", "Conv2d")({6, 2, 2, 1});
  auto rObj = m.createMovable(model_obj, &I);
  auto I2 = m.acquireOne();
  auto model_obj2 = I2.fromMovable(rObj);
  rObj.unload();
  std::vector<torch::jit::IValue> inputs;
  inputs.push_back(torch::ones({1, 6, 6, 6}));
  at::Tensor output = model_obj2(inputs).toIValue().toTensor();
  EXPECT_EQ(output.sizes(), (at::IntArrayRef{1, 2, 5, 5}));
  auto again = I.createMovable(model_obj);
  EXPECT_TRUE(again(inputs).toTensor().equal(output));
  EXPECT_TRUE(rObj.toObj(&I2).hasattr("forward"));
}

TEST(AncestorPrograms, ObjOfAnotherSession) {
  torch::deploy::InterpreterManager manager(4);
  torch::deploy::Package p = manager.loadPackage(packageFile("simple.pt"));
  auto replicatedObj = p.loadPickle("model", "model.pkl");
  auto session1 = replicatedObj.acquireSession();
  auto session2 = p.acquireSession();
  auto obj = session1.fromMovable(replicatedObj);
  EXPECT_TRUE(session1.isOwner(obj));
  try {
    p.createMovable(obj, &session2);
    FAIL() << "nothing was thrown";
  } catch (std::runtime_error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("Cannot create movable from an object that lives in different session"),
              std::string::npos);
  }
}

TEST(AncestorPrograms, ThrowsSafely) {
  torch::deploy::InterpreterManager manager(3);
  torch::deploy::Package p = manager.loadPackage(packageFile("simple.pt"));
  EXPECT_THROW(p.loadPickle("some other", "garbage path"), std::runtime_error);
  auto model = p.loadPickle("model", "model.pkl");
  EXPECT_THROW(model(at::IValue("unexpected input")), std::runtime_error);
}

TEST(AncestorPrograms, SourcesAndInterpreters) {
  torch::deploy::InterpreterManager m(2);
  m.registerModuleSource("foomodule", "def add1(x): return x + 1\n");
  for (const auto& interp : m.allInstances()) {
    auto I = interp.acquireSession();
    AT_ASSERT(3 == I.global("foomodule", "add1")({2}).toIValue().toInt());
  }
  for (auto& interp : m.allInstances()) {
    auto I = interp.acquireSession();
    I.global("sys", "path").attr("append")({"somewhere"});
  }
  m.debugLimitInterpreters(1);
  m.acquireOne();
  torch::deploy::LoadBalancer balancer(2);
  balancer.setResourceLimit(1);
  int where = balancer.acquire();
  EXPECT_EQ(where, 0);
  balancer.free(where);
}

// There a tensor of one interpreter could not be given to another, and a movable
// had to be made to share one. Here it crosses.
TEST(AncestorPrograms, TensorsAreShared) {
  torch::NoGradGuard no_grad;
  torch::deploy::InterpreterManager m(2);
  auto I0 = m.allInstances()[0].acquireSession();
  auto I1 = m.allInstances()[1].acquireSession();
  auto obj = I0.global("torch", "ones")({I0.fromIValue(2)});  // (empty: NaN equals nothing)
  auto t = obj.toIValue().toTensor();
  at::Tensor sigmoid = I1.global("torch", "sigmoid")({t}).toIValue().toTensor();
  EXPECT_TRUE(sigmoid.equal(torch::sigmoid(t)));

  auto replicated = m.createMovable(obj, &I0);
  auto there = I1.fromMovable(replicated).toIValue().toTensor();
  EXPECT_EQ(there.data_ptr(), t.data_ptr());
}

TEST(AncestorPrograms, TensorsOutliveTheirManager) {
  at::Tensor t = torch::ones(2);
  {
    torch::deploy::InterpreterManager m(1);
    m.acquireOne().fromIValue(t);
  }
  torch::deploy::InterpreterManager m(1);
  EXPECT_TRUE(m.acquireOne().fromIValue(t).toIValue().toTensor().equal(t));
}

TEST(AncestorPrograms, MethodAndEnvironment) {
  torch::NoGradGuard no_grad;
  std::shared_ptr<torch::deploy::Environment> env =
      std::make_shared<torch::deploy::PathEnvironment>(MULTIPY_TEST_PACKAGES);
  torch::deploy::InterpreterManager m(1, env);
  auto model = m.loadPackage(packageFile("simple.pt")).loadPickle("model", "model.pkl");
  std::unique_ptr<torch::IMethod> method =
      std::make_unique<torch::deploy::PythonMethodWrapper>(model, "forward");
  EXPECT_EQ(method->name(), "forward");
  EXPECT_EQ(method->getArgumentNames().at(0), "input");
  EXPECT_EQ((*method)({torch::ones({1, 20})}).toTensor().size(1), 10);
  torch::deploy::Interpreter alone(env);
  auto I = alone.acquireSession();
  EXPECT_EQ(I.global("operator", "add")({5, 4}).toIValue().toInt(), 9);
}

TEST(AncestorPrograms, Checks) {
  EXPECT_THROW(MULTIPY_INTERNAL_ASSERT(false), std::runtime_error);
  EXPECT_THROW(MULTIPY_INTERNAL_ASSERT(false, "msg"), std::runtime_error);
  EXPECT_THROW(MULTIPY_CHECK(false), std::runtime_error);
  EXPECT_THROW(MULTIPY_CHECK(false, "msg"), std::runtime_error);
}

}  // namespace
