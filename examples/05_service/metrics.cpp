#include "metrics.h"

#include <sstream>

namespace service {

void Metrics::countResponse(int status) {
  const std::lock_guard lock(mutex_);
  ++responses_[status];
}

void Metrics::countReload(bool succeeded) {
  const std::lock_guard lock(mutex_);
  ++(succeeded ? reloads_ : failedReloads_);
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::ostringstream out;
  out << "# HELP service_responses_total Responses, by HTTP status.\n"
         "# TYPE service_responses_total counter\n";
  for (const auto& [status, count] : responses_)
    out << "service_responses_total{status=\"" << status << "\"} " << count << '\n';
  out << "# HELP service_reloads_total Reloads of the package, by what came of them.\n"
         "# TYPE service_reloads_total counter\n"
      << "service_reloads_total{outcome=\"succeeded\"} " << reloads_ << '\n'
      << "service_reloads_total{outcome=\"failed\"} " << failedReloads_ << '\n';
  return out.str();
}

}  // namespace service
