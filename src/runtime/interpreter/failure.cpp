#include "runtime/interpreter/failure.h"

#include <string>
#include <vector>

#include "multipy/runtime/Exception.h"

namespace multipy::runtime {
namespace {

std::string listed(const std::vector<std::string>& searchPath) {
  std::string text;
  for (const std::string& entry : searchPath) text += (text.empty() ? "" : ", ") + entry;
  return text.empty() ? "(an empty sys.path)" : text;
}

std::string moduleNotFoundText(const Failure& failure, std::string_view wantedBy) {
  std::string text = failure.message;
  if (!wantedBy.empty()) text += "; code of the package " + std::string(wantedBy) + " wanted it";
  return text + "; searched: " + listed(failure.searchPath) +
         "; install it into that Python environment, or choose another environment (see "
         "multipy/runtime/environment.h)";
}

}  // namespace

void throwFailure(const Failure& failure, std::string_view wantedBy) {
  switch (failure.kind) {
    case Failure::Kind::Python:
      throw PythonException(failure.type, failure.message, failure.traceback);
    case Failure::Kind::ModuleNotFound:
      throw ModuleNotFoundError(failure.module, failure.searchPath,
                                moduleNotFoundText(failure, wantedBy), failure.traceback);
    case Failure::Kind::Conversion:
      throw ConversionError(failure.message);
    case Failure::Kind::Environment:
      throw EnvironmentError(failure.message);
    case Failure::Kind::None:
      break;
  }
  throw InternalError(
      "an operation inside an interpreter failed without saying why (its Failure "
      "is empty): please report it, with what the program was calling");
}

}  // namespace multipy::runtime
