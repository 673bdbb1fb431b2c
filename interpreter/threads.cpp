// Threads that Python starts belong to the interpreter that started them: code
// that asks the host for the current interpreter (torch's dispatcher, autograd)
// must get the right answer there too. Linked with --wrap=pthread_create, so
// that CPython's own calls come here.
#include <pthread.h>

#include <memory>

#include "interpreter/host_connection.h"

namespace {

struct Start {
  void* (*run)(void*);
  void* argument;
};

void* runInInterpreter(void* given) {
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  const auto* host = multipy::host();
  host->setCurrent(host->slot);
  return start->run(start->argument);
}

}  // namespace

extern "C" int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

extern "C" int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                     void* (*run)(void*), void* argument) {
  auto start = std::make_unique<Start>(Start{run, argument});
  const int error = __real_pthread_create(thread, attributes, runInInterpreter, start.get());
  if (error == 0) start.release();  // NOLINT: the new thread owns it now
  return error;
}
