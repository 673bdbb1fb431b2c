// The host's functions, as this interpreter was given them.
//
// One copy of libinterpreter.so serves one interpreter, so this is a constant
// of the copy: set by attach() right after dlopen, before any other code runs
// here, and valid until the copy is unloaded.
#pragma once

#include "abi/host_services.h"

namespace multipy {

const HostServices* host() noexcept;
void connectHost(const HostServices* services) noexcept;

/// Tensors that are transferred while one lives, on this thread, keep the storages in common that
/// they have in common.
class TransferGroup {
 public:
  TransferGroup() { host()->beginTransferGroup(); }
  ~TransferGroup() { host()->endTransferGroup(); }
  TransferGroup(const TransferGroup&) = delete;
  TransferGroup& operator=(const TransferGroup&) = delete;
};

}  // namespace multipy
