#include "integrations/triton/log.h"

namespace multipy::triton {

void log(TRITONSERVER_LogLevel level, const std::string& message,
         std::source_location place) noexcept {
  // There is no other place to write an error of the log itself to.
  if (TRITONSERVER_Error* const error = TRITONSERVER_LogMessage(
          level, place.file_name(), static_cast<int>(place.line()), message.c_str()))
    TRITONSERVER_ErrorDelete(error);
}

}  // namespace multipy::triton
