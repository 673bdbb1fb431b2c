#include "integrations/triton/errors.h"

#include <multipy/runtime/Exception.h>

#include <exception>

#include "integrations/triton/log.h"

namespace multipy::triton {
namespace {

OwnedError newError(TRITONSERVER_Error_Code code, const std::string& message) {
  return OwnedError(TRITONSERVER_ErrorNew(code, message.c_str()));
}

}  // namespace

void check(TRITONSERVER_Error* error, const char* doing) {
  if (error == nullptr) return;
  const OwnedError owned(error);
  throw TritonError(TRITONSERVER_ErrorCode(error),
                    std::string("cannot ") + doing + ": " + TRITONSERVER_ErrorMessage(error));
}

void logIfError(TRITONSERVER_Error* error, const char* doing) noexcept {
  if (error == nullptr) return;
  const OwnedError owned(error);
  log(TRITONSERVER_LOG_ERROR,
      std::string("cannot ") + doing + ": " + TRITONSERVER_ErrorMessage(error));
}

OwnedError currentError() noexcept {
  try {
    throw;
  } catch (const TritonError& error) {
    return newError(error.code(), error.what());
  } catch (const runtime::CancelledError& error) {
    return newError(TRITONSERVER_ERROR_CANCELLED, error.what());
  } catch (const runtime::CallEndedError& error) {  // deadlines, and a line that is full
    return newError(TRITONSERVER_ERROR_UNAVAILABLE, error.what());
  } catch (const std::exception& error) {
    return newError(TRITONSERVER_ERROR_INTERNAL, error.what());
  } catch (...) {
    return newError(TRITONSERVER_ERROR_INTERNAL, "something was thrown that is no std::exception");
  }
}

}  // namespace multipy::triton
