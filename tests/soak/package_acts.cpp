// Packages that are opened, used and dropped.
#include <ATen/Functions.h>

#include "acts.h"
#include "checks.h"

namespace multipy::soak {
namespace {

using runtime::Package;
using runtime::ReplicatedObj;

void loadedAgain(World& world, Random& random) {
  const Package package = world.manager().loadPackage(world.packagePath("soak.pt"));
  const ReplicatedObj model = package.loadPickle("model", "model.pkl");
  const at::Tensor x = random.tensor({2, 32});
  for (int i = 0; i < 2; ++i)
    expectClose(model({x}).toTensor(), modelAnswer(x),
                "the answer of a model that was loaded again");
}

void resources(World& world, Random&) {
  expectEqual(world.package().loadText("extra", "text"), "grüße", "a text of the package");
  expectEqual(world.package().loadBinary("extra", "binary"), std::string("\0soak\xff", 6),
              "bytes of the package");
}

void session(World& world, Random& random) {
  auto session = world.package().acquireSession();
  const std::string text = random.text(2);
  const auto label = session.self.attr("import_module")({"soak_model"}).attr("make_label")({text});
  expectEqual(label({"!"}).toIValue().toStringRef(), text + "!", "the label's answer");
  const ReplicatedObj moved = world.package().createMovable(label, &session);
  expectEqual(moved({"?"}).toStringRef(), text + "?", "the moved label's answer");
}

void whatIsNotThere(World& world, Random&) {
  expectError<runtime::PackageError>(
      "a missing package", [&] { world.manager().loadPackage(world.packagePath("absent.pt")); });
  expectError<runtime::PackageError>("a missing text",
                                     [&] { world.package().loadText("extra", "absent"); });
  expectError<runtime::PackageError>("a missing object",
                                     [&] { world.package().loadPickle("model", "absent.pkl"); });
}

}  // namespace

Acts packageActs() {
  return {
      {"packages.loaded_again", 2, loadedAgain},
      {"packages.resources", 5, resources},
      {"packages.session", 3, session},
      {"packages.what_is_not_there", 2, whatIsNotThere},
  };
}

}  // namespace multipy::soak
