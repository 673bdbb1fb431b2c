// A list that only grows. Who reads it takes no lock: it may be a child of fork(), where
// no thread is left to give one back.
//
// Threads: one adds at a time; any number read meanwhile.
#pragma once

#include <atomic>
#include <utility>

namespace multipy::base {

template <class Element>
class AppendOnlyList {
 public:
  AppendOnlyList() = default;
  AppendOnlyList(const AppendOnlyList&) = delete;
  AppendOnlyList& operator=(const AppendOnlyList&) = delete;
  ~AppendOnlyList() {
    for (Node* node = first_; node;) delete std::exchange(node, node->next.load());
  }

  void add(Element element) {
    auto* const node = new Node{std::move(element)};
    end_->store(node, std::memory_order_release);
    end_ = &node->next;
  }

 private:
  struct Node {
    const Element element;
    std::atomic<Node*> next{nullptr};
  };

 public:
  /// In the order in which they were added.
  class Iterator {
   public:
    explicit Iterator(const Node* node) : node_(node) {}
    const Element& operator*() const { return node_->element; }
    Iterator& operator++() {
      node_ = node_->next.load(std::memory_order_acquire);
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Node* node_;
  };
  Iterator begin() const { return Iterator(first_.load(std::memory_order_acquire)); }
  Iterator end() const { return Iterator(nullptr); }

 private:
  std::atomic<Node*> first_{nullptr};
  std::atomic<Node*>* end_ = &first_;
};

}  // namespace multipy::base
