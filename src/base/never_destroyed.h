// An object of which there is one and that is never destroyed: threads and other
// libraries may still ask for it while, and after, static objects are destroyed. It
// takes no memory of the heap, so it ends with this library's pages.
#pragma once

#include <new>

namespace multipy::base {

template <class Object>
Object& neverDestroyed() {
  alignas(Object) static char storage[sizeof(Object)];
  static Object* const one = new (storage) Object;
  return *one;
}

}  // namespace multipy::base
