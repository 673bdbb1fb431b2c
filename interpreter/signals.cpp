#include "interpreter/signals.h"

#include <signal.h>

namespace multipy {
namespace {
bool untouched = false;
}

SignalsAreTheHosts::SignalsAreTheHosts() { untouched = true; }
SignalsAreTheHosts::~SignalsAreTheHosts() { untouched = false; }

}  // namespace multipy

extern "C" int __real_sigaction(int, const struct sigaction*, struct sigaction*);

extern "C" int __wrap_sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  return __real_sigaction(number, multipy::untouched ? nullptr : action, old);
}
