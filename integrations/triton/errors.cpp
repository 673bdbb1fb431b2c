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

OwnedError currentError(const std::string& before) noexcept {
  const auto error = [&](TRITONSERVER_Error_Code code, const char* text) {
    return newError(code, before + text);
  };
  try {
    throw;
  } catch (const TritonError& caught) {
    return error(caught.code(), caught.what());
  } catch (const runtime::CancelledError& caught) {
    return error(TRITONSERVER_ERROR_CANCELLED, caught.what());
  } catch (const runtime::CallEndedError& caught) {  // deadlines, and a line that is full
    return error(TRITONSERVER_ERROR_UNAVAILABLE, caught.what());
  } catch (const std::exception& caught) {
    return error(TRITONSERVER_ERROR_INTERNAL, caught.what());
  } catch (...) {
    return error(TRITONSERVER_ERROR_INTERNAL, "something was thrown that is no std::exception");
  }
}

}  // namespace multipy::triton
