#include "runtime/interpreter/deferred_release.h"

#include <new>

namespace multipy::runtime {

void DeferredRelease::ended(void* threadState) noexcept {
  auto* thread = new (std::nothrow) EndedThread{threadState};
  if (!thread) return;  // then the state stays until its interpreter ends
  if (threadStates_.push(thread) == base::ClosableStack<EndedThread>::Pushed::Refused)
    delete thread;
}

void DeferredRelease::clear(const InterpreterApi& api) noexcept {
  if (empty()) [[likely]]
    return;
  giveUp(api, references_.takeAll());
  discard(api, threadStates_.takeAll());
}

void DeferredRelease::close(const InterpreterApi& api) noexcept {
  // Giving up a reference may run Python code that drops others: clear until
  // nothing is left, then close, then take what came in between.
  while (!empty()) clear(api);
  giveUp(api, references_.close());
  discard(api, threadStates_.close());
}

void DeferredRelease::giveUp(const InterpreterApi& api, DroppedReference* first) noexcept {
  while (first) {
    DroppedReference* next = first->next;
    api.decref(first->handle);
    delete first;
    first = next;
  }
}

void DeferredRelease::discard(const InterpreterApi& api, EndedThread* first) noexcept {
  while (first) {
    EndedThread* next = first->next;
    api.discardThreadState(first->state);
    delete first;
    first = next;
  }
}

}  // namespace multipy::runtime
