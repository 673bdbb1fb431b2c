// What clang's thread safety analysis (-Wthread-safety) checks: which mutex guards a variable,
// and which a function needs, takes or gives back. Other compilers see nothing of it.
// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html says what each means.
//
// A lambda is a function of its own to the analysis: it holds nothing of what the function around
// it does. So a condition is waited for in a loop, without a lambda.
#pragma once

#ifdef __clang__
#define MULTIPY_THREAD_ANNOTATION(attribute) __attribute__((attribute))
#else
#define MULTIPY_THREAD_ANNOTATION(attribute)
#endif

// Of classes.
#define MULTIPY_CAPABILITY(kind) MULTIPY_THREAD_ANNOTATION(capability(kind))
#define MULTIPY_SCOPED_CAPABILITY MULTIPY_THREAD_ANNOTATION(scoped_lockable)

// Of variables.
#define MULTIPY_GUARDED_BY(mutex) MULTIPY_THREAD_ANNOTATION(guarded_by(mutex))

// Of functions.
#define MULTIPY_REQUIRES(...) MULTIPY_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define MULTIPY_ACQUIRE(...) MULTIPY_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define MULTIPY_ACQUIRE_SHARED(...) \
  MULTIPY_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define MULTIPY_TRY_ACQUIRE(...) MULTIPY_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define MULTIPY_RELEASE(...) MULTIPY_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define MULTIPY_RELEASE_SHARED(...) \
  MULTIPY_THREAD_ANNOTATION(release_shared_capability(__VA_ARGS__))
#define MULTIPY_NO_THREAD_SAFETY_ANALYSIS MULTIPY_THREAD_ANNOTATION(no_thread_safety_analysis)
