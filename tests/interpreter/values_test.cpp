// Every IValue kind that has a Python form, there and back, checked by Python
// itself: the module below says what type and value it was given.
#include <gtest/gtest.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/interpreter_session.h>
#include <multipy/runtime/obj.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>
#include <chrono>
#include <thread>

#include <ATen/ATen.h>
#include <ATen/core/jit_type.h>

#include <limits>
#include <sstream>

namespace multipy::runtime {
namespace {

constexpr const char* kModule = R"py(
import collections, enum, typing

def same(x): return x
def describe(x): return f"{type(x).__name__}:{x!r}"

class Colour(enum.Enum):
    RED = 1
    GREEN = 2

Point = collections.namedtuple("Point", "x y")
class Typed(typing.NamedTuple):
    a: int
    b: str

Renamed = collections.namedtuple("Renamed", "first def", rename=True)
def renamed(): return Renamed(1, 2)
def red(): return Colour.RED
def name_of(colour): return colour.name if isinstance(colour, Colour) else repr(type(colour))
def point(): return Point(3, "four")
def typed(): return Typed(1, "z")
def fields(p): return ",".join(p._fields) + f"={p.x}/{p.y}"
def empty_list(): return []
def mixed_list(): return [1, "a", None, 2.5]
def mixed_dict(): return {"a": 1, "b": [1.5], "c": None}
def int_dict(): return {1: "one", 2: "two"}
def nested(): return {"k": [(1, [2.0, 3.0]), (4, [5.0])]}
def some_bytes(): return b"\x00\xffabc"
def big(): return 1 << 80
def a_set(): return {1, 2}
def a_function(): return same
def enum_of_several_kinds(): return enum.Enum("Several", {"A": 1, "B": "b"}).A
def enum_of_tuples(): return enum.Enum("Tuples", {"A": (1, 2)}).A
def two_flags():
    class Flags(enum.Flag):
        A = 1
        B = 2
    return Flags.A | Flags.B
def tuple_key(): return {(1, 2): 3}
def null_character(): raise ValueError("before\0after")
def contains_itself():
    l = []
    l.append(l)
    return l
def all_kinds():
    import torch
    return [mixed_list(), (1, 2), point(), red(), 1 + 2j, {"a": [1]}, "text", torch.ones(2)]
def done():
    import torch
    future = torch.futures.Future()
    future.set_result([1, 2])
    return future
def surrogate(): return "\udc80"
class Raises:
    @property
    def broken(self): raise RuntimeError("broken property")
)py";

class ValuesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    manager = new InterpreterManager(2);
    manager->registerModuleSource("values_module", kModule);
  }
  static void TearDownTestSuite() {
    delete manager;
    manager = nullptr;
  }
  at::IValue call(const char* function, std::vector<at::IValue> args = {}) {
    return session.global("values_module", function)(at::ArrayRef<at::IValue>(args)).toIValue();
  }
  std::string describe(at::IValue value) {
    return call("describe", {std::move(value)}).toStringRef();
  }
  at::IValue roundTrip(const at::IValue& value) { return call("same", {value}); }
  std::string whyNot(const char* function) {
    try {
      call(function);
    } catch (const ConversionError& error) {
      return error.what();
    }
    return "no error";
  }

  static InterpreterManager* manager;
  InterpreterSession session = manager->acquireOne();
};
InterpreterManager* ValuesTest::manager = nullptr;

TEST_F(ValuesTest, Scalars) {
  EXPECT_EQ(describe(at::IValue()), "NoneType:None");
  EXPECT_EQ(describe(true), "bool:True");
  EXPECT_EQ(describe(int64_t{-5}), "int:-5");
  EXPECT_EQ(describe(2.5), "float:2.5");
  EXPECT_EQ(describe(c10::complex<double>(1, -2)), "complex:(1-2j)");
  EXPECT_EQ(describe("gr\xC3\xBC\xC3\x9F"), "str:'grüß'");
  EXPECT_EQ(roundTrip(std::numeric_limits<int64_t>::min()).toInt(),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(roundTrip(std::string("a\0b", 3)).toStringRef(), std::string("a\0b", 3));
  EXPECT_EQ(roundTrip(c10::complex<double>(1, -2)).toComplexDouble(), c10::complex<double>(1, -2));
  EXPECT_TRUE(roundTrip(at::IValue()).isNone());
  EXPECT_TRUE(roundTrip(false).isBool());
}

TEST_F(ValuesTest, TypedListsKeepTheirType) {
  EXPECT_EQ(describe(std::vector<int64_t>{1, 2}), "list:[1, 2]");
  EXPECT_EQ(roundTrip(std::vector<int64_t>{1, 2}).toIntVector(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(roundTrip(std::vector<double>{1, 2.5}).toDoubleVector(), (std::vector<double>{1, 2.5}));
  EXPECT_TRUE(roundTrip(c10::List<bool>({true, false})).isBoolList());
  const auto strings = roundTrip(c10::List<std::string>({"a", "b"}));
  EXPECT_EQ(strings.toList().elementType()->kind(), c10::TypeKind::StringType);
  EXPECT_EQ(strings.toListRef()[1].toStringRef(), "b");
}

TEST_F(ValuesTest, EmptyAndMixedLists) {
  EXPECT_TRUE(call("empty_list").toList().empty());
  const auto mixed = call("mixed_list").toListRef().vec();
  ASSERT_EQ(mixed.size(), 4u);
  EXPECT_EQ(mixed[0].toInt(), 1);
  EXPECT_EQ(mixed[1].toStringRef(), "a");
  EXPECT_TRUE(mixed[2].isNone());
  EXPECT_EQ(mixed[3].toDouble(), 2.5);
}

TEST_F(ValuesTest, Dicts) {
  auto mixed = call("mixed_dict").toGenericDict();
  EXPECT_EQ(mixed.at("a").toInt(), 1);
  EXPECT_EQ(mixed.at("b").toDoubleVector(), std::vector<double>{1.5});
  EXPECT_TRUE(mixed.at("c").isNone());
  auto ints = call("int_dict").toGenericDict();
  EXPECT_EQ(ints.keyType()->kind(), c10::TypeKind::IntType);
  EXPECT_EQ(ints.at(int64_t{2}).toStringRef(), "two");
  c10::Dict<std::string, int64_t> dict;
  dict.insert("k", 9);
  EXPECT_EQ(describe(dict), "dict:{'k': 9}");
}

TEST_F(ValuesTest, NestedContainers) {
  const auto list = call("nested").toGenericDict().at("k").toListRef().vec();
  EXPECT_EQ(list[1].toTupleRef().elements()[0].toInt(), 4);
  EXPECT_EQ(list[0].toTupleRef().elements()[1].toDoubleVector(), (std::vector<double>{2, 3}));
  EXPECT_EQ(describe(call("nested")), "dict:{'k': [(1, [2.0, 3.0]), (4, [5.0])]}");
}

TEST_F(ValuesTest, NamedTuplesKeepTheirNames) {
  const auto point = call("point");
  const auto type = point.toTupleRef().type();
  ASSERT_TRUE(type->schema());
  EXPECT_EQ(type->schema()->arguments()[1].name(), "y");
  EXPECT_EQ(call("fields", {point}).toStringRef(), "x,y=3/four");
  EXPECT_EQ(describe(call("renamed")), "Renamed:Renamed(first=1, _1=2)");
  EXPECT_EQ(call("typed").toTupleRef().elements()[1].toStringRef(), "z");
}

TEST_F(ValuesTest, Enums) {
  const auto red = call("red");
  ASSERT_TRUE(red.isEnum());
  EXPECT_EQ(red.toEnumHolder()->name(), "RED");
  EXPECT_EQ(red.toEnumHolder()->value().toInt(), 1);
  EXPECT_EQ(call("name_of", {red}).toStringRef(), "RED");
}

TEST_F(ValuesTest, BytesBecomeAStringOfTheSameBytes) {
  EXPECT_EQ(call("some_bytes").toStringRef(), std::string("\x00\xff"
                                                          "abc",
                                                          5));
}

TEST_F(ValuesTest, WhatHasNoFormIsAnErrorThatNamesTheType) {
  EXPECT_NE(whyNot("a_set").find("'set'"), std::string::npos) << whyNot("a_set");
  EXPECT_NE(whyNot("a_function").find("'function'"), std::string::npos) << whyNot("a_function");
  EXPECT_NE(whyNot("big").find("1208925819614629174706176"), std::string::npos) << whyNot("big");
  EXPECT_NE(whyNot("tuple_key").find("'tuple'"), std::string::npos) << whyNot("tuple_key");
  for (const char* each : {"enum_of_several_kinds", "enum_of_tuples", "two_flags"})
    EXPECT_NE(whyNot(each).find(".value"), std::string::npos) << each << ": " << whyNot(each);
  EXPECT_NE(call("same", {int64_t{1}}).toInt(), 0) << "the session is still usable";
}

TEST_F(ValuesTest, ValuesOfCppThatContainThemselvesAreRefused) {
  c10::impl::GenericList circle(c10::AnyType::get());
  circle.push_back(circle);
  try {
    call("same", {circle});
    ADD_FAILURE() << "expected an error";
  } catch (const PythonException& error) {
    EXPECT_EQ(error.type(), "RecursionError");
  }
  circle.clear();
}

// CPython 3.14 goes by the room that is left on the stack, which these have, earlier ones by a
// number.
TEST_F(ValuesTest, ValuesOfCppThatAreTooDeepForPythonAreRefused) {
  constexpr int kDepth = 20'000;
  c10::IValue deep = 1;
  for (int i = 0; i < kDepth; ++i) deep = c10::ivalue::Tuple::create({deep});
  try {
    c10::IValue same = call("same", {deep});
    EXPECT_GE(session.global("sys", "hexversion").toIValue().toInt(), 0x030E0000);
    int depth = 0;
    for (; same.isTuple(); ++depth) same = c10::IValue(same.toTuple()->elements()[0]);
    EXPECT_EQ(depth, kDepth);
  } catch (const PythonException& error) {
    EXPECT_EQ(error.type(), "RecursionError");
  }
}

TEST_F(ValuesTest, PythonErrorsWhileConverting) {
  try {
    call("null_character");
    FAIL();
  } catch (const PythonException& error) {
    EXPECT_EQ(error.message(), std::string("before\0after", 12));
    EXPECT_NE(std::string(error.what()).find("before\\0after"), std::string::npos) << error.what();
  }
  try {
    call("contains_itself");
    FAIL();
  } catch (const PythonException& error) {
    EXPECT_EQ(error.type(), "RecursionError");
    EXPECT_NE(error.message().find("contains itself"), std::string::npos);
  }
  try {
    call("surrogate");
    FAIL();
  } catch (const PythonException& error) {
    EXPECT_EQ(error.type(), "UnicodeEncodeError");
  }
  EXPECT_THROW(describe(std::string("\xff\xfe not UTF-8")), PythonException);
  EXPECT_THROW(session.global("values_module", "Raises")(std::vector<Obj>()).hasattr("broken"),
               PythonException);
}

TEST_F(ValuesTest, ACapsuleHasNoPythonForm) {
  struct Something : torch::CustomClassHolder {};
  const at::IValue capsule = c10::IValue::make_capsule(c10::make_intrusive<Something>());
  try {
    roundTrip(capsule);
    FAIL();
  } catch (const ConversionError& error) {
    EXPECT_NE(std::string(error.what()).find("Capsule"), std::string::npos) << error.what();
  }
}

TEST_F(ValuesTest, WhatPointsToNothingHasNoPythonForm) {
  const at::IValue all[] = {at::IValue(c10::intrusive_ptr<c10::ivalue::Object>()),
                            at::IValue(c10::Storage()),
                            at::IValue(c10::intrusive_ptr<c10::ivalue::EnumHolder>()),
                            at::IValue(c10::intrusive_ptr<c10::ivalue::Future>())};
  for (const at::IValue& value : all) EXPECT_THROW(roundTrip(value), ConversionError);
}

// ------------------------------------------------------------- torch's values

TEST_F(ValuesTest, TensorsShareTheirMemory) {
  const at::Tensor t = at::arange(6, at::kFloat).reshape({2, 3}).t();
  const at::Tensor back = roundTrip(t).toTensor();
  EXPECT_EQ(back.data_ptr(), t.data_ptr());
  EXPECT_EQ(back.strides(), t.strides());
  EXPECT_FALSE(back.is_same(t)) << "a fresh TensorImpl at each transfer";
  const auto list = roundTrip(std::vector<at::Tensor>{t, t}).toTensorVector();
  EXPECT_EQ(list[1].data_ptr(), t.data_ptr());
}

TEST_F(ValuesTest, DeviceDtypeLayoutAndGenerator) {
  EXPECT_EQ(roundTrip(at::Device("cpu")).toDevice(), at::Device("cpu"));
  EXPECT_EQ(describe(at::Device("cpu")), "device:device(type='cpu')");
  EXPECT_EQ(session.global("torch", "bfloat16").toIValue().toInt(),
            static_cast<int64_t>(at::kBFloat16));
  EXPECT_EQ(session.global("torch", "strided").toIValue().toInt(),
            static_cast<int64_t>(at::kStrided));
  const auto generator = session.global("torch", "Generator")(std::vector<Obj>()).toIValue();
  EXPECT_TRUE(generator.isGenerator());
  EXPECT_EQ(session.global("torch", "Size")({std::vector<int64_t>{2, 3}})
                .toIValue()
                .toTupleRef()
                .elements()[1]
                .toInt(),
            3);
}

TEST_F(ValuesTest, SymbolicNumbersThatAreConcrete) {
  EXPECT_EQ(describe(c10::SymInt(7)), "int:7");
  EXPECT_EQ(describe(c10::SymFloat(0.5)), "float:0.5");
}

TEST_F(ValuesTest, NumpyScalarsAndArrays) {
  EXPECT_EQ(session.global("numpy", "int64")({5}).toIValue().toInt(), 5);
  EXPECT_EQ(session.global("numpy", "float32")({0.5}).toIValue().toDouble(), 0.5);
  EXPECT_TRUE(session.global("numpy", "bool_")({true}).toIValue().toBool());
  EXPECT_THROW(session.global("numpy", "zeros")({3}).toIValue(), ConversionError);
  EXPECT_THROW(session.global("numpy", "longdouble")({0.5}).toIValue(), ConversionError);
  EXPECT_THROW(session.global("numpy", "clongdouble")({0.5}).toIValue(), ConversionError);
}

TEST_F(ValuesTest, FuturesInBothDirections) {
  manager->registerModuleSource("futures_module", R"py(
import torch
def made():
    f = torch.futures.Future()
    f.set_result(torch.ones(3))
    return f
def wait(f): return f.wait()
)py");
  auto future = session.global("futures_module", "made")(std::vector<Obj>()).toIValue().toFuture();
  future->wait();
  EXPECT_TRUE(future->value().toTensor().equal(at::ones({3})));

  auto mine = c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get());
  mine->markCompleted(at::full({2}, 5.0));
  EXPECT_TRUE(session.global("futures_module", "wait")({mine}).toIValue().toTensor().equal(
      at::full({2}, 5.0)));
}

constexpr const char* kLaterModule = R"py(
import threading, torch

waiting = []
def promised():
    f = torch.futures.Future()
    waiting.append(f)
    return f
def fulfil(value): waiting.pop(0).set_result(value)
def fail(text): waiting.pop(0).set_exception(ValueError(text))

seen = []
def when_done(f): f.add_done_callback(lambda done: seen.append(done.value()))
def waited(f):
    """A thread of Python's waits: no other is kept."""
    thread = threading.Thread(target=lambda: seen.append(f.wait()))
    thread.start()
    return thread
def after(f): return f.then(lambda done: done.value() + 1)
def take(): return seen.pop(0) if seen else None
)py";

TEST_F(ValuesTest, AFutureOfPythonIsAwaitedInCpp) {
  manager->registerModuleSource("later_module", kLaterModule);
  const auto promised = [&] {
    return session.global("later_module", "promised")(std::vector<Obj>()).toIValue().toFuture();
  };
  const auto tensors = promised(), lists = promised(), failing = promised();
  EXPECT_FALSE(tensors->completed());
  std::jthread later([&] {
    auto other = manager->allInstances()[0].acquireSession();
    other.global("later_module", "fulfil")({at::ones({3})});
    other.global("later_module", "fulfil")({at::IValue(std::vector<int64_t>{1, 2})});
    other.global("later_module", "fail")({"not kept"});
  });
  tensors->wait();
  EXPECT_TRUE(tensors->value().toTensor().equal(at::ones({3})));
  lists->wait();
  EXPECT_EQ(at::IValue(lists->value().toList().get(1)).toInt(), 2);
  failing->wait();
  ASSERT_TRUE(failing->hasError());
  EXPECT_NE(failing->tryRetrieveErrorMessage().find("not kept"), std::string::npos);
}

TEST_F(ValuesTest, AFutureOfCppIsAwaitedInPython) {
  manager->registerModuleSource("later_module", kLaterModule);
  for (const char* how : {"when_done", "waited"}) {
    auto mine = c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get());
    session.global("later_module", how)({mine});
    mine->markCompleted(at::full({2}, 5.0));
    at::IValue got;
    for (int i = 0; i < 1000 && got.isNone(); ++i) {
      got = session.global("later_module", "take")(std::vector<Obj>()).toIValue();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ASSERT_TRUE(got.isTensor()) << how;
    EXPECT_TRUE(got.toTensor().equal(at::full({2}, 5.0)));
  }
  // There, on, and back again.
  auto mine = c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get());
  const auto after = session.global("later_module", "after")({mine}).toIValue().toFuture();
  mine->markCompleted(at::ones({2}));
  after->wait();
  EXPECT_TRUE(after->value().toTensor().equal(at::full({2}, 2.0)));
}

TEST(Futures, OfAnInterpreterThatEndsGetAnError) {
  c10::intrusive_ptr<c10::ivalue::Future> promised, kept;
  auto mine = c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get());
  {
    InterpreterManager manager(1);
    manager.registerModuleSource("later_module", kLaterModule);
    auto session = manager.acquireOne();
    promised = session.global("later_module", "promised")(std::vector<Obj>()).toIValue().toFuture();
    session.global("later_module", "when_done")({mine});
    kept = session.global("later_module", "after")({mine}).toIValue().toFuture();
  }
  for (const auto& future : {promised, kept}) {
    future->wait();
    ASSERT_TRUE(future->hasError());
    EXPECT_NE(future->tryRetrieveErrorMessage().find("InterpreterManager"), std::string::npos);
  }
  mine->markCompleted(at::ones({1}));  // nothing waits for it any more
}

TEST_F(ValuesTest, ScriptModulesInBothDirectionsAndInTwoInterpreters) {
  manager->registerModuleSource("script_module", R"py(
import torch, io
def made():
    m = torch.jit.trace(torch.nn.Linear(3, 2).requires_grad_(False), torch.ones(1, 3))
    with torch.no_grad():
        m.weight.fill_(2); m.bias.fill_(1)
    return m
def use(m, x): return m(x)
def weight(m): return m.weight
)py");
  torch::jit::Module module(
      session.global("script_module", "made")(std::vector<Obj>()).toIValue().toObject());
  const at::Tensor x = at::ones({1, 3});
  const at::Tensor expected = at::full({1, 2}, 7.0);
  EXPECT_TRUE(module.forward({x}).toTensor().equal(expected));
  for (const Interpreter& interpreter : manager->allInstances()) {
    auto inside = interpreter.acquireSession();
    EXPECT_TRUE(inside.global("script_module", "use")({module._ivalue(), x})
                    .toIValue()
                    .toTensor()
                    .equal(expected));
    EXPECT_EQ(inside.global("script_module", "weight")({module._ivalue()})
                  .toIValue()
                  .toTensor()
                  .data_ptr(),
              module.attr("weight").toTensor().data_ptr());
  }
}

// Its libraries are gone by then, with all code of theirs that a value might call as it goes.
TEST(ValuesThatStay, OutliveTheirInterpreter) {
  at::IValue all, future;
  {
    InterpreterManager manager(1);
    manager.registerModuleSource("values_module", kModule);
    const auto session = manager.acquireOne();
    all = session.global("values_module", "all_kinds")(std::vector<Obj>()).toIValue();
    future = session.global("values_module", "done")(std::vector<Obj>()).toIValue();
  }
  ASSERT_EQ(all.toListRef().size(), 8u);
  EXPECT_EQ(all.toListRef()[2].toTupleRef().elements()[0].toInt(), 3);
  EXPECT_EQ(all.toListRef()[3].toEnumHolder()->name(), "RED");
  EXPECT_EQ(all.toListRef()[4].toComplexDouble(), c10::complex<double>(1, 2));
  EXPECT_EQ(all.toListRef()[5].toGenericDict().at("a").toListRef()[0].toInt(), 1);
  all = at::IValue();
  EXPECT_EQ(future.toFuture()->value().toListRef()[1].toInt(), 2);
  future = at::IValue();
}

}  // namespace
}  // namespace multipy::runtime
