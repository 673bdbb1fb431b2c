// torch.packages: zip files with records, opened and read as loadPackage(), loadText(),
// loadPickle() and, in the interpreters, torch's PackageImporter do.
//
// An input is the file. It is read a second time while its end is cut off.
#include <c10/util/Exception.h>
#include <caffe2/serialize/inline_container.h>

#include <atomic>
#include <cstring>

#include "fuzz/subject.h"
#include "multipy/runtime/Exception.h"
#include "runtime/packages/package_records.h"

namespace multipy::fuzz {
namespace {

using caffe2::serialize::PyTorchStreamReader;
using caffe2::serialize::PyTorchStreamWriter;

/// A file that becomes shorter while it is open.
class ShrinkingFile final : public runtime::PackageBytes {
 public:
  ShrinkingFile(std::span<const std::byte> bytes) : bytes_(bytes), left_(bytes.size()) {}

  void truncate(std::size_t size) { left_ = size; }

  std::size_t size() const override { return bytes_.size(); }
  std::size_t read(std::uint64_t position, void* buffer, std::size_t n,
                   const char* /*what*/) const override {
    if (position >= left_) return 0;
    const std::size_t got = std::min<std::size_t>(n, left_ - position);
    if (got != 0)
      std::memcpy(buffer, bytes_.data() + position, got);  // else there may be no buffer
    return got;
  }

 private:
  const std::span<const std::byte> bytes_;
  std::size_t left_;
};

/// What errors are allowed to be, and that they say which package it is.
template <typename Work>
bool works(Work&& work) {
  try {
    work();
    return true;
  } catch (const runtime::PackageError& error) {
    promise(std::string(error.what()).find("fuzzed.pt") != std::string::npos,
            std::string("an error does not name the package: ") + error.what());
    return false;
  }
}

bool readAsLibrary(const runtime::PackageRecords& records) {
  bool all = works([&] { static_cast<void>(records.resource("extra_files", "text")); });
  all &= works([&] { records.requireResource("model", "model.pkl"); });
  all &= works([&] { static_cast<void>(records.resource("model", "__init__.py")); });
  promise(!works([&] { records.requireResource("no.such", "resource"); }), "there is no such one");
  return all;
}

/// torch turns all C++ exceptions into Python's. With the calls of PackageImporter.
void readAsImporter(const std::shared_ptr<runtime::PackageBytes>& bytes) {
  try {
    PyTorchStreamReader reader(bytes);
    for (const std::string& record : reader.getAllRecords()) {
      try {
        const auto [data, size] = reader.getRecord(record);
        // All of it is there to be read.
        volatile std::size_t sum = 0;
        for (std::size_t i = 0; i < size; i += 64)
          sum = sum + static_cast<const unsigned char*>(data.get())[i];
        static_cast<void>(reader.getRecordOffset(record));
      } catch (const std::exception&) {
      }
    }
  } catch (const std::exception&) {
  }
}

Bytes packageOf(const std::vector<std::pair<std::string, std::string>>& records, bool compressed) {
  Bytes bytes;
  PyTorchStreamWriter writer([&](const void* from, std::size_t n) {
    const auto* begin = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), begin, begin + n);
    return n;
  });
  for (const auto& [name, text] : records)
    writer.writeRecord(name, text.data(), text.size(), compressed);
  writer.writeEndOfFile();
  return bytes;
}

}  // namespace

Outcome exercise(std::span<const std::byte> input) {
  const auto file = std::make_shared<ShrinkingFile>(input);
  bool all = false;
  const bool opened = works([&] {
    const runtime::PackageRecords records("fuzzed.pt", file);
    all = readAsLibrary(records);
    file->truncate(input.size() / 2);
    readAsLibrary(records);
    file->truncate(input.size());
  });
  if (opened) readAsImporter(file);
  return all ? Outcome::Accepted : Outcome::Refused;
}

std::vector<Bytes> seeds() {
  const std::vector<std::pair<std::string, std::string>> records = {
      {".data/extern_modules", "torch\nsys\n"},
      {".data/python_version", "3.11.7\n"},
      {"model/model.pkl", std::string("\x80\x02}q\0.", 6)},
      {"model/__init__.py", ""},
      {"extra_files/text", "some text of more than a few bytes, of some bytes, some text"}};
  return {packageOf(records, false), packageOf(records, true)};
}

std::vector<std::string> words() {
  return {"PK\1\2",
          "PK\3\4",
          "PK\5\6",
          "PK\6\6",
          "PK\6\7",
          std::string("\1\0", 2),
          "archive/",
          "version",
          "3\n",
          ".data/extern_modules",
          "byteorder",
          ".data/serialization_id",
          std::string(4, '\xff'),
          std::string(2, '\xff')};
}

}  // namespace multipy::fuzz
