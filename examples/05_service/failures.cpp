#include "failures.h"

#include <multipy/runtime/Exception.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "json_values.h"

namespace service {
namespace {

using namespace multipy::runtime;

/// The name of a class without its module.
std::string_view className(std::string_view qualified) {
  return qualified.substr(qualified.rfind('.') + 1);  // (npos + 1 is 0)
}

Failure raisedByModel(const PythonException& error) {
  if (className(error.type()) == "BadInput") return {400, "BadRequest", error.message(), ""};
  return {500, error.type(), error.message(), error.what()};
}

Failure tooLate(const DeadlineExceededError& error) {
  return {504, "DeadlineExceededError",
          error.hasBegun() ? "the deadline passed while the model ran"
                           : "the deadline passed while the request waited for an interpreter",
          error.what()};
}

}  // namespace

Failure toFailure(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const BadRequest& error) {
    return {400, "BadRequest", error.what(), ""};
  } catch (const QueueFullError&) {
    return {503, "QueueFullError", "too many requests are waiting; try again later", ""};
  } catch (const DeadlineExceededError& error) {
    return tooLate(error);
  } catch (const PythonException& error) {
    return raisedByModel(error);
  } catch (const std::exception& error) {
    return {500, "InternalError", error.what(), error.what()};
  }
}

std::string bodyOf(const std::string& type, const std::string& message) {
  const nlohmann::json body{{"error", {{"type", type}, {"message", message}}}};
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace service
