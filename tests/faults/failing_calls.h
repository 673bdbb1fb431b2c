// Functions of the C library that fail when they are told to: the program's own malloc(),
// mmap() and pthread_create() come before the library's for all that is in the process, private
// copies and ld.so included.
#pragma once

namespace multipy::testing_support {

enum class Failing {
  Memory,   // malloc() and its like, and with them `new`
  Pages,    // mmap() and mprotect(): the memory of Python's objects
  Threads,  // pthread_create()
};
enum class Times { Once, FromThenOn };

/// From now on the `nth` call, of all threads together, fails with ENOMEM (EAGAIN for threads).
void failFrom(Failing what, long nth, Times times);
/// No more. The number of calls there were meanwhile.
long stopFailing();
/// Writes who made the first call that failed.
void writeFirstFailed(int file);

}  // namespace multipy::testing_support
