// Small shared objects that look like torch's, written as assembly and linked by
// the compiler.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace multipy::bridge {

struct FakeLibrary {
  std::vector<std::string> undefined, defined;
  std::string text;            // a string among its data
  std::string buildId = "01";  // hex digits; empty for none

  /// A libtorch_python with all that redirected_symbols.cpp and the binding name.
  static FakeLibrary libtorchPython();
  void remove(const std::string& name);
  /// Writes and links it at `file`.
  void write(const std::filesystem::path& file) const;
};

/// A directory laid out as site-packages/torch, removed in the end.
class FakeTorch {
 public:
  FakeTorch();
  ~FakeTorch();
  std::filesystem::path root() const { return root_; }
  std::filesystem::path libtorchPython() const { return root_ / "lib/libtorch_python.so"; }
  std::filesystem::path libtorchCpu() const { return root_ / "lib/libtorch_cpu.so"; }
  void writeVersion(const std::string& text) const;

 private:
  std::filesystem::path root_;
};

}  // namespace multipy::bridge
