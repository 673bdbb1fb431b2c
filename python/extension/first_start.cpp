#include "first_start.h"

#include <future>
#include <string>
#include <system_error>

#include "crossing.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::host {

bool startInterpreters(const std::function<void()>& start) {
  std::future<void> starting;
  std::string whyNot;
  try {
    bridge::prepareProcess([&] {
      try {
        starting = std::async(std::launch::async, start);
      } catch (const std::system_error&) {
        // No thread to be had: afterwards, then.
      }
    });
  } catch (const std::exception& error) {
    whyNot = error.what();
  }
  const bool started = outside([&] {
    if (starting.valid())
      starting.get();
    else if (whyNot.empty())
      start();
  });
  if (whyNot.empty()) return started;
  PyErr_Clear();  // the start's, which has met with the same
  PyErr_SetString(PyExc_ImportError, whyNot.c_str());
  return false;
}

}  // namespace multipy::host
