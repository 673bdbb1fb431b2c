// Leads the references of loaded libraries to an imported function or variable to another one.
//
// A shared library reaches a symbol of another one (or an exported one of its
// own) through a word in its global offset table, which a relocation of type
// JUMP_SLOT or GLOB_DAT fills with the symbol's address. Writing another
// address there redirects that library's references and no others: what
// libraries that exist once per process (libtorch_cpu) need. Private copies
// have their names changed instead (copy_plan.h).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace multipy::loader {

struct ImportRedirection {
  std::string_view symbol;  // mangled
  const void* replacement = nullptr;
};

/// Redirects the references of the objects that are loaded now and `wanted` by the path
/// they were opened by ("" is the program itself); returns the number of words
/// that were written. A library loaded later is not redirected, and the dynamic
/// linker may write the original's address once more if another thread is just
/// making its library's first call: to be repeated after loading. What is wanted must stay loaded
/// meanwhile. (No lock of ld.so's is waited for, which a thread in a static initialiser has.)
///
/// Threads: any. Throws LoadError where a table cannot be made writable.
std::size_t redirectImports(std::span<const ImportRedirection> redirections,
                            bool (*wanted)(std::string_view path));

}  // namespace multipy::loader
