// Values that are no tensors.
#include "acts.h"
#include "checks.h"
#include "nested_values.h"

namespace multipy::soak {
namespace {

void texts(World& world, Random& random) {
  const std::string text = random.text(static_cast<int>(random.number(0, 20)));
  expectEqual(call(world.session(random), "soak_values", "echo", text).toStringRef(), text,
              "the text");
}

void longText(World& world, Random& random) {
  const std::string text(1 << 20, static_cast<char>('a' + random.number(0, 25)));
  expectEqual(call(world.session(random), "soak_values", "reversed_text", text + "!").toStringRef(),
              "!" + text, "a long text");
}

void nested(World& world, Random& random) {
  const auto session = world.session(random);
  const at::IValue value = nestedValue(random, 4);
  const std::string text = canonical(value);
  expectEqual(call(session, "soak_values", "canonical", value).toStringRef(), text,
              "what Python was given");
  expectEqual(canonical(call(session, "soak_values", "echo", value)), text,
              "what Python gave back");
}

void kept(World& world, Random& random) {
  const at::IValue value = nestedValue(random, 3);
  runtime::Obj copy;
  const auto session = world.session(random);
  {
    const runtime::Obj object = session.fromIValue(value);
    copy = object;
  }
  expect(session.isOwner(copy), "the session owns its object");
  expectEqual(canonical(copy.toIValue()), canonical(value), "a value kept in Python");
}

}  // namespace

Acts valueActs() {
  return {
      {"values.texts", 10, texts},
      {"values.long_text", 2, longText},
      {"values.nested", 10, nested},
      {"values.kept", 10, kept},
  };
}

}  // namespace multipy::soak
