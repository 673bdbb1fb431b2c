// The shared objects that the process has loaded, as dl_iterate_phdr() shows them, copied.
//
// The callback of dl_iterate_phdr() runs under a lock of ld.so's, and must not allocate memory: an
// allocator that takes stack traces (memray, the heap profilers of jemalloc and tcmalloc) holds a
// lock of its own while the unwinder asks for that of ld.so. So the objects are counted, room is
// made for them, and only then are they copied.
//
// An object may be unloaded once this has been made: what its headers point to is there only where
// the caller knows that the object stays.
//
// Threads: any may make one; one belongs to one thread at a time.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace multipy::base {

class ObjectList {
 public:
  struct Object {
    const char* name;  // the path that it was opened by; "" is the program
    ElfW(Addr) base;
    std::span<const ElfW(Phdr)> headers;
  };

  /// Those whose name is `wanted`, which is called under ld.so's lock: it must not allocate or
  /// throw. Throws std::bad_alloc.
  template <typename Wanted>
  explicit ObjectList(Wanted wanted) {
    struct Pass {
      ObjectList& list;
      Wanted& wanted;
    } pass{*this, wanted};
    while (true) {
      used_ = {};
      ::dl_iterate_phdr(
          [](dl_phdr_info* object, std::size_t, void* data) {
            auto& pass = *static_cast<Pass*>(data);
            pass.list.unloaded_ = object->dlpi_subs;
            if (pass.wanted(static_cast<const char*>(object->dlpi_name))) pass.list.add(*object);
            return 0;
          },
          &pass);
      if (hasRoom()) break;
      objects_.resize(used_.objects);
      headers_.resize(used_.headers);
      names_.resize(used_.characters);
    }
    objects_.resize(used_.objects);
  }

  ObjectList(ObjectList&&) = delete;  // the objects point into it

  auto begin() const { return objects_.begin(); }
  auto end() const { return objects_.end(); }

  /// How many objects the process had unloaded by then.
  unsigned long long unloaded() const { return unloaded_; }

 private:
  struct Room {
    std::size_t objects = 0, headers = 0, characters = 0;
  };

  bool hasRoom() const {
    return used_.objects <= objects_.size() && used_.headers <= headers_.size() &&
           used_.characters <= names_.size();
  }

  void add(const dl_phdr_info& object) noexcept {
    const Room at = used_;
    const std::size_t characters = std::strlen(object.dlpi_name) + 1;
    used_ = {at.objects + 1, at.headers + object.dlpi_phnum, at.characters + characters};
    if (!hasRoom()) return;
    std::memcpy(&names_[at.characters], object.dlpi_name, characters);
    std::memcpy(&headers_[at.headers], object.dlpi_phdr, object.dlpi_phnum * sizeof headers_[0]);
    objects_[at.objects] = {
        &names_[at.characters], object.dlpi_addr, {&headers_[at.headers], object.dlpi_phnum}};
  }

  std::vector<Object> objects_;
  std::vector<ElfW(Phdr)> headers_;
  std::vector<char> names_;
  Room used_;
  unsigned long long unloaded_ = 0;
};

}  // namespace multipy::base
