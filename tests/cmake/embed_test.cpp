// Compares what the build embedded with the file named on the command line.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "tools/python_sources.h"

extern "C" const char embedded_awkward_begin[], embedded_awkward_end[];

namespace {

const multipy::PythonSource* find(const char* name) {
  for (std::size_t i = 0; i < multipy::pythonSourceCount; ++i)
    if (std::strcmp(multipy::pythonSources[i].name, name) == 0) return &multipy::pythonSources[i];
  return nullptr;
}

int fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fail("usage: embed_test <awkward.py>");
  std::ifstream file(argv[1], std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  if (expected.empty()) return fail("the file to compare with is empty or missing");

  if (multipy::pythonSourceCount != 2) return fail("expected two sources");
  const auto* awkward = find("awkward");
  if (!awkward || std::string(awkward->text, awkward->size) != expected)
    return fail("awkward.py differs");
  if (awkward->text[awkward->size] != 0) return fail("awkward.py does not end with a zero byte");
  const auto* empty = find("empty");
  if (!empty || empty->size != 0 || empty->text[0] != 0) return fail("empty.py is not empty");

  if (std::string(embedded_awkward_begin, embedded_awkward_end) != expected)
    return fail("the embedded file differs");
  return 0;
}
