#include "interpreter/host_connection.h"

#include "interpreter/fork_handlers.h"

namespace multipy {

namespace {
const HostServices* services = nullptr;
}

const HostServices* host() noexcept { return services; }
void connectHost(const HostServices* given) noexcept {
  services = given;
  watchForks();
}

}  // namespace multipy
