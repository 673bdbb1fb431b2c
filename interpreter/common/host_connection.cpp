#include "interpreter/common/host_connection.h"

namespace multipy {

namespace {
const HostServices* services = nullptr;
}

const HostServices* host() noexcept { return services; }
void connectHost(const HostServices* given) noexcept { services = given; }

}  // namespace multipy
