// An object that stays, with all that it holds, for as long as the process lives. To keep it so
// takes no memory: the lack of it may be the reason.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace multipy::base {

template <class Object>
void keepForever(Object&& object) noexcept {
  using Kept = std::remove_cvref_t<Object>;
  alignas(Kept) std::byte place[sizeof(Kept)];
  ::new (static_cast<void*>(place)) Kept(std::forward<Object>(object));  // never destroyed
}

}  // namespace multipy::base
