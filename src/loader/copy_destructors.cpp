#include "loader/copy_destructors.h"

#include <dlfcn.h>
#include <elf.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <new>

namespace multipy::loader {
namespace {

struct Entry {
  std::atomic<ElfW(Dyn)*> size{nullptr};  // null: free
  InterpreterId slot = InterpreterId::none();
};

// Never freed, so that a child may walk them whenever it was made.
struct Block {
  std::array<Entry, 256> entries;
  std::atomic<Block*> next{nullptr};
};

constinit std::atomic<Block*> firstBlock{nullptr};

template <class Use>
void forEach(const Use& use) noexcept {
  for (Block* block = firstBlock.load(); block; block = block->next.load())
    for (Entry& entry : block->entries) use(entry);
}

Entry* freeEntry() noexcept {
  std::atomic<Block*>* end = &firstBlock;
  for (Block* block = end->load(); block; end = &block->next, block = end->load())
    for (Entry& entry : block->entries)
      if (!entry.size.load()) return &entry;
  auto* const block = new (std::nothrow) Block;
  end->store(block);
  return block ? &block->entries[0] : nullptr;
}

ElfW(Dyn) * sizeIn(void* handle) noexcept {
  link_map* object = nullptr;
  return ::dlinfo(handle, RTLD_DI_LINKMAP, &object) == 0 ? dynamicEntry(*object, DT_FINI_ARRAYSZ)
                                                         : nullptr;
}

}  // namespace

ElfW(Dyn) * dynamicEntry(const link_map& object, ElfW(Sxword) tag) noexcept {
  for (ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag) return entry;
  return nullptr;
}

void CopyDestructors::add(InterpreterId slot, void* handle) noexcept {
  ElfW(Dyn)* const size = sizeIn(handle);
  Entry* const entry = size ? freeEntry() : nullptr;
  if (!entry) return;
  entry->slot = slot;
  entry->size.store(size);
}

void CopyDestructors::remove(void* handle) noexcept {
  ElfW(Dyn)* const size = sizeIn(handle);
  if (!size) return;
  forEach([&](Entry& entry) {
    if (entry.size.load() == size) entry.size.store(nullptr);
  });
}

void CopyDestructors::skipInChild(InterpreterId forked) noexcept {
  forEach([&](Entry& entry) {
    ElfW(Dyn)* const size = entry.size.load();
    if (size && entry.slot != forked) size->d_un.d_val = 0;
  });
}

}  // namespace multipy::loader
