#include "interpreter/libc/signals.h"

#include <errno.h>
#include <signal.h>

#include "interpreter/common/exported.h"
#include "interpreter/common/host_connection.h"

namespace multipy {
namespace {

bool untouched = false;

int change(int number, const struct sigaction* action, struct sigaction* old) {
  const int error = host()->changeSignal(host()->context, number, action, old);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace

SignalsAreTheHosts::SignalsAreTheHosts() { untouched = true; }
SignalsAreTheHosts::~SignalsAreTheHosts() { untouched = false; }

}  // namespace multipy

extern "C" {

int __wrap_sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  return multipy::change(number, multipy::untouched ? nullptr : action, old);
}

// Private copies of libraries call these in place of the ones without "multipy_".
MULTIPY_EXPORT int multipy_sigaction(int number, const struct sigaction* action,
                                     struct sigaction* old) {
  return multipy::change(number, action, old);
}

// As in BSD, which is what glibc's does.
MULTIPY_EXPORT sighandler_t multipy_signal(int number, sighandler_t handler) {
  struct sigaction action {
  }, old{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaddset(&action.sa_mask, number);
  return multipy::change(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

}  // extern "C"
