// Keys of thread-specific data (pthread_key_create) end with their interpreter.
//
// A key's destructor runs when a thread ends, and many libraries never delete their
// keys: CPython's mimalloc since 3.13, C++ libraries with a buffer for each thread. A
// thread that has called such a library and ends after it was unloaded would run code
// that is gone, and each interpreter would use up some of the process's 1,024 keys.
// So this interpreter's keys are ours to delete: those that libinterpreter.so makes
// (linked with --wrap) and those of private libraries, whose calls lead here.
#pragma once

namespace multipy {

/// When nothing runs in this interpreter any more. What threads that still exist keep
/// under these keys is not destroyed.
void deleteThreadKeys();

}  // namespace multipy
