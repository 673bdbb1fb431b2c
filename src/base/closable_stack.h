// A lock-free stack that many threads push onto and one takes as a whole, until
// it is closed. `Node` has a member `Node* next`.
#pragma once

#include <atomic>
#include <cstdint>

namespace multipy::base {

template <typename Node>
class ClosableStack {
 public:
  enum class Pushed { First, Further, Refused };

  /// Refused when the stack is closed: the node stays the caller's.
  Pushed push(Node* node) noexcept {
    Node* head = head_.load();
    do {
      if (head == closedMark()) return Pushed::Refused;
      node->next = head;
    } while (!head_.compare_exchange_weak(head, node));
    return head ? Pushed::Further : Pushed::First;
  }

  /// All nodes, last one first; they are the caller's now.
  Node* takeAll() noexcept {
    Node* head = head_.load();
    while (head && head != closedMark())
      if (head_.compare_exchange_weak(head, nullptr)) return head;
    return nullptr;
  }

  /// Takes all nodes and refuses further ones.
  Node* close() noexcept {
    Node* head = head_.exchange(closedMark());
    return head == closedMark() ? nullptr : head;
  }

  bool empty() const noexcept {
    Node* head = head_.load();
    return !head || head == closedMark();
  }
  bool closed() const noexcept { return head_.load() == closedMark(); }

 private:
  static Node* closedMark() noexcept { return reinterpret_cast<Node*>(std::uintptr_t{1}); }
  std::atomic<Node*> head_{nullptr};
};

}  // namespace multipy::base
