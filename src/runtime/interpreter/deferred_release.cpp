#include "runtime/interpreter/deferred_release.h"

#include <new>
#include <utility>

namespace multipy::runtime {
namespace {

template <class Node, class End>
void deleteAll(Node* first, const End& end) noexcept {
  while (first) {
    Node* const next = first->next;
    end(*first);
    delete first;
    first = next;
  }
}

}  // namespace

void DeferredRelease::ended(void* threadState) noexcept {
  auto* thread = new (std::nothrow) EndedThread{threadState};
  if (!thread) return;  // then the state stays until its interpreter ends
  if (threadStates_.push(thread) == base::ClosableStack<EndedThread>::Pushed::Refused)
    delete thread;
}

void DeferredRelease::clear(const InterpreterApi::WithGil& python) noexcept {
  if (empty()) [[likely]]
    return;
  giveUp(python, references_.takeAll());
  discard(python, threadStates_.takeAll());
}

void DeferredRelease::close(const InterpreterApi::WithGil& python) noexcept {
  // Giving up a reference may run Python code that drops others: clear until
  // nothing is left, then close, then take what came in between.
  while (!empty()) clear(python);
  giveUp(python, references_.close());
  discard(python, threadStates_.close());
}

void DeferredRelease::giveUp(const InterpreterApi::WithGil& python,
                             DroppedReference* first) noexcept {
  deleteAll(first, [&](DroppedReference& each) { python.giveUp(std::move(each.reference)); });
}

void DeferredRelease::discard(const InterpreterApi::WithGil& python, EndedThread* first) noexcept {
  deleteAll(first, [&](EndedThread& each) { python.discardThreadState(each.state); });
}

}  // namespace multipy::runtime
