// What fails, and has to be an error of the right type with the right text; sessions and
// interpreters stay usable.
#include <ATen/Functions.h>

#include "acts.h"
#include "checks.h"

namespace multipy::soak {
namespace {

using runtime::ConversionError;
using runtime::HandleError;
using runtime::InterpreterSession;
using runtime::InvalidArgument;
using runtime::Obj;

void expectUsable(const InterpreterSession& session) {
  expectEqual(call(session, "soak_values", "add", 2, 3).toInt(), 5, "the sum after an error");
}

void valueError(World& world, Random& random) {
  const auto session = world.session(random);
  const std::string text = random.text(3);
  const auto error =
      expectRaised("ValueError", [&] { call(session, "soak_errors", "value_error", text); });
  expectEqual(error.message(), text, "the error's text");
  expectContains(error.traceback(), "raise ValueError(text)", "the traceback");
  expectEqual(call(session, "soak_errors", "caught", text).toStringRef(), "ValueError: " + text,
              "the text of an error that Python caught");
}

void ownType(World& world, Random& random) {
  const auto session = world.session(random);
  const auto error = expectRaised("soak_errors.OwnError",
                                  [&] { call(session, "soak_errors", "own_error", "mine"); });
  expectEqual(error.message(), "mine", "the error's text");
}

void chained(World& world, Random& random) {
  const auto session = world.session(random);
  const auto error =
      expectRaised("OSError", [&] { call(session, "soak_errors", "chained", "key"); });
  expectEqual(error.message(), "outer key", "the error's text");
  expectContains(error.traceback(), "KeyError: 'key'", "the traceback");
  expectContains(error.traceback(), "the direct cause", "the traceback");
}

void group(World& world, Random& random) {
  const auto session = world.session(random);
  if (!call(session, "soak_errors", "has_groups").toBool()) return;
  const auto error =
      expectRaised("ExceptionGroup", [&] { call(session, "soak_errors", "group", "inner"); });
  expectContains(error.traceback(), "TypeError: inner", "the traceback");
}

void recursion(World& world, Random& random) {
  const auto session = world.session(random);
  const auto error =
      expectRaised("RecursionError", [&] { call(session, "soak_errors", "recurse", 0); });
  expectContains(error.message(), "maximum recursion depth", "the error's text");
  expectEqual(call(session, "soak_errors", "recurse_to", 500).toInt(), 500,
              "a recursion of 500 calls");
}

void nestedBrackets(World& world, Random& random) {
  const auto session = world.session(random);
  expectEqual(call(session, "soak_errors", "nested_json", 200).toInt(), 200,
              "the depth of 200 brackets");
  expectRaised("RecursionError", [&] { call(session, "soak_errors", "nested_json", 100'000); });
  expectRaised("RecursionError", [&] { call(session, "soak_errors", "nested_repr", 100'000); });
  expectRaised("RecursionError", [&] { call(session, "soak_errors", "nested_list", 100'000); });
}

void exits(World& world, Random& random) {
  const auto session = world.session(random);
  const auto error = expectRaised("SystemExit", [&] { call(session, "soak_errors", "leave", 3); });
  expectEqual(error.message(), "3", "the exit status");
  expectRaised("KeyboardInterrupt", [&] { call(session, "soak_errors", "interrupt"); });
  expectUsable(session);
}

void missingModule(World& world, Random& random) {
  const auto session = world.session(random);
  const auto error = expectError<runtime::ModuleNotFoundError>(
      "a missing module", [&] { call(session, "soak_errors", "import_missing", "soak_absent"); });
  expectEqual(error.module(), "soak_absent", "the module's name");
  expect(!error.searchPath().empty(), "the error names the search path");
  expectError<runtime::ModuleNotFoundError>("a missing module",
                                            [&] { session.global("soak_absent", "f"); });
  expectUsable(session);
}

void missingAttribute(World& world, Random& random) {
  const auto session = world.session(random);
  const Obj add = session.global("soak_values", "add");
  expect(!add.hasattr("soak"), "a function has no attribute soak");
  expectRaised("AttributeError", [&] { add.attr("soak"); });
  expectError<InvalidArgument>("an attribute without a name", [&] { add.attr(nullptr); });
  expectError<InvalidArgument>("an empty Obj", [&] { Obj().attr("soak"); });
}

void wrongArguments(World& world, Random& random) {
  const auto session = world.session(random);
  const Obj add = session.global("soak_values", "add");
  expectRaised("TypeError", [&] { add({1}); });
  expectRaised("TypeError", [&] { add.callKwargs({1, 2}, {{"fourth", 4}}); });
  expectRaised("TypeError", [&] { add({1, "text"}); });
  const auto error =
      expectRaised("RuntimeError", [&] { call(session, "soak_tensors", "wrong_shapes"); });
  expectContains(error.message(), "shapes cannot be multiplied", "torch's error");
  expectRaised("RuntimeError", [&] { world.model()({at::ones({1, 31})}); });
  expectUsable(session);
}

void notConvertible(World& world, Random& random) {
  const auto session = world.session(random);
  expectError<ConversionError>("an object()",
                               [&] { call(session, "soak_errors", "not_convertible"); });
  expectError<ConversionError>("a huge int", [&] { call(session, "soak_errors", "huge_number"); });
  expectUsable(session);
}

void inAPool(World& world, Random& random) {
  const auto session = world.session(random);
  const auto error = expectRaised(
      "LookupError", [&] { call(session, "soak_threads", "error_in_a_pool", "in a thread"); });
  expectEqual(error.message(), "in a thread", "the text of an error of another thread");
}

void objectOfAnother(World& world, Random& random) {
  const auto instances = world.manager().allInstances();
  if (instances.size() < 2) return expectUsable(world.session(random));
  const auto first = instances[0].acquireSession(), second = instances[1].acquireSession();
  const Obj value = first.fromIValue(1);
  const Obj echo = second.global("soak_values", "echo");
  expect(!second.isOwner(value), "a session does not own another's object");
  expectError<HandleError>("an object of another interpreter",
                           [&] { echo(at::ArrayRef<Obj>(value)); });
}

}  // namespace

Acts errorActs() {
  return {
      {"errors.value_error", 10, valueError},
      {"errors.own_type", 5, ownType},
      {"errors.chained", 5, chained},
      {"errors.group", 3, group},
      {"errors.recursion", 3, recursion},
      {"errors.nested_brackets", 2, nestedBrackets},
      {"errors.exits", 5, exits},
      {"errors.missing_module", 3, missingModule},
      {"errors.missing_attribute", 5, missingAttribute},
      {"errors.wrong_arguments", 5, wrongArguments},
      {"errors.not_convertible", 5, notConvertible},
      {"errors.in_a_pool", 3, inAPool},
      {"errors.object_of_another", 5, objectOfAnother},
  };
}

}  // namespace multipy::soak
