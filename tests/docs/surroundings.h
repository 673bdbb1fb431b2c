// What the programs made of a page's snippets have in common.
#pragma once

#include <ATen/Functions.h>
#include <multipy/runtime/deploy.h>

#include <cstdio>
#include <exception>
#include <initializer_list>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

/// For `<!-- test after: ... -->`: ends the snippet if `condition` is not true.
inline void require(bool condition, std::source_location where = std::source_location::current()) {
  if (!condition)
    throw std::runtime_error("what line " + std::to_string(where.line()) + " requires is not so");
}

inline void mustBeZero(int exitCode) {
  if (exitCode != 0)
    throw std::runtime_error("the program returned " + std::to_string(exitCode) + ", expected 0");
}

namespace multipy_docs {

struct Snippet {
  std::string_view page;
  int line;
  void (*run)();
};

/// Runs those of the page that the command line names, in order. After the first that
/// fails the rest is not tried: it may build upon it.
inline int runPage(int count, char** words, std::initializer_list<Snippet> snippets) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s PAGE\n", words[0]);
    return 2;
  }
  int ran = 0;
  for (const Snippet& snippet : snippets) {
    if (snippet.page != words[1]) continue;
    std::fprintf(stderr, "-- %s:%d\n", words[1], snippet.line);
    try {
      snippet.run();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s:%d: %s\n", words[1], snippet.line, error.what());
      return 1;
    }
    ++ran;
  }
  std::fprintf(stderr, "%d C++ snippets of %s were run\n", ran, words[1]);
  return ran > 0 ? 0 : 1;  // it is called for pages that have some
}

}  // namespace multipy_docs
