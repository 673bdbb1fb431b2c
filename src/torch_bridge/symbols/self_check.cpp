// Compares the libraries of a torch that multipy has never been run with with what
// src/torch_bridge needs of them, reading their symbol tables only. cmake/MultipyTorchCheck.cmake
// compiles and runs this while it configures; declarations.cpp is the other half of
// the check, for torch's headers.
//
//   self_check <libtorch_python> <known_registrations.txt> <shared library of torch>...
//
// Writes one difference a line. Ends with 0 if there is none, else with 1.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "elf/shared_object.h"
#include "torch_bridge/symbols/registering_imports.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace {

using namespace multipy;

std::vector<std::string> differences(const std::string& libtorchPython, const std::string& known,
                                     const std::vector<std::string>& sharedLibraries) {
  const auto python = elf::SharedObject::read(libtorchPython);
  auto found = bridge::symbolDifferences(python);
  std::vector<elf::SharedObject> shared;
  for (const std::string& file : sharedLibraries) shared.push_back(elf::SharedObject::read(file));
  for (auto& more : {bridge::exportDifferences(shared),
                     bridge::registrationDifferences(python, bridge::knownRegistrations(known))})
    found.insert(found.end(), more.begin(), more.end());
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3) {
    std::cout << "self_check: expected a libtorch_python, a list of known registrations and at "
                 "least one shared library of torch\n";
    return 1;
  }
  try {
    const auto found =
        differences(arguments[0], arguments[1], {arguments.begin() + 2, arguments.end()});
    for (const std::string& difference : found) std::cout << difference << '\n';
    return found.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cout << error.what() << '\n';
    return 1;
  }
}
