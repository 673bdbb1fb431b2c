// Gives the memory that copies of one library have in common back to one file.
//
// A private copy differs from its original in a few tables. Its code and constants
// are the original's, byte for byte and offset for offset, but since they are in
// another file the kernel keeps them again: in the page cache once for each copy,
// so N times for N interpreters. Once a copy is loaded, its unedited read-only pages
// are mapped anew from the original, in place (MAP_FIXED), and cost what they cost
// any other program that has this library loaded. Nothing else changes: to ld.so,
// gdb and dladdr() the library is still the copy.
//
// Left as they are: pages that have been written into since they were mapped (a
// debugger its breakpoints, code that patches itself, ld.so its text relocations),
// which the kernel tells in /proc/self/pagemap; and all of a library whose original
// is no longer the file that the copy was made of.
//
// Threads: all functions from any thread. Others may run the code meanwhile; the
// kernel exchanges a mapping under the lock that a page fault takes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "elf/edited_copy.h"
#include "loader/library_facts.h"

namespace multipy::loader {

/// The file ranges of `original`, in whole pages, that its copies map read-only and
/// unedited, as far as they are worth a mapping of their own.
std::vector<elf::FileRange> sharableRanges(const elf::SharedObject& original);

/// Maps `ranges` of the loaded object that was opened as `copy` from `original`, if
/// that is still the file of this identity (empty: no other process can have changed it).
/// The number of bytes that are shared now; less than all where the system does not
/// let us (a file that cannot be read or run from, no mappings left).
std::size_t sharePages(const std::string& copy, const std::vector<elf::FileRange>& ranges,
                       const std::filesystem::path& original,
                       const std::optional<FileIdentity>& identity);

}  // namespace multipy::loader
