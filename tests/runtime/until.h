// Waiting in tests for what another thread brings about.
#pragma once

#include <chrono>
#include <thread>

namespace multipy::runtime {

/// For as long as it takes: the test's own limit ends it.
template <class Condition>
void until(const Condition& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace multipy::runtime
