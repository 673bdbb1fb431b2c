#include "signals.h"

#include <pthread.h>

#include <system_error>

namespace service {
namespace {

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

Signals::Signals(std::initializer_list<int> numbers) {
  sigemptyset(&set_);
  for (const int number : numbers) sigaddset(&set_, number);
  check(pthread_sigmask(SIG_BLOCK, &set_, nullptr), "cannot block signals");
}

int Signals::wait() {
  int number = 0;
  check(sigwait(&set_, &number), "cannot wait for signals");
  return number;
}

void Signals::release() {
  check(pthread_sigmask(SIG_UNBLOCK, &set_, nullptr), "cannot unblock signals");
}

}  // namespace service
