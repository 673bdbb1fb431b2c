// torch.packages that are damaged: refused with a PackageError, whatever torch makes of them.
#include "runtime/packages/package_records.h"

#include <caffe2/serialize/inline_container.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "expect_error.h"
#include "multipy/runtime/Exception.h"

namespace multipy::runtime {
namespace {

using caffe2::serialize::PyTorchStreamReader;
using caffe2::serialize::PyTorchStreamWriter;
using testing_support::expectError;

// Offsets in an entry of a zip file's central directory.
constexpr std::size_t kSizeInDirectoryEntry = 24;
constexpr std::size_t kNameInDirectoryEntry = 46;

class BytesInMemory final : public PackageBytes {
 public:
  explicit BytesInMemory(std::string contents) : bytes(std::move(contents)), size_(bytes.size()) {}

  std::size_t size() const override { return size_; }
  std::size_t read(std::uint64_t position, void* into, std::size_t n, const char*) const override {
    if (fails) throw std::runtime_error("the network is down");
    if (position >= bytes.size()) return 0;
    const std::size_t got = std::min<std::size_t>(n, bytes.size() - position);
    std::memcpy(into, bytes.data() + position, got);
    return got;
  }

  std::string bytes;
  bool fails = false;

 private:
  const std::size_t size_;
};

std::string package(bool compressed = false) {
  std::string bytes;
  PyTorchStreamWriter writer([&](const void* from, std::size_t n) {
    bytes.append(static_cast<const char*>(from), n);
    return n;
  });
  for (const auto& [name, text] :
       {std::pair{".data/extern_modules", "torch\n"}, std::pair{"extra_files/text", "some text"}})
    writer.writeRecord(name, text, std::strlen(text), compressed);
  writer.writeEndOfFile();
  return bytes;
}

std::shared_ptr<BytesInMemory> reader(std::string bytes) {
  return std::make_shared<BytesInMemory>(std::move(bytes));
}

TEST(PackageRecords, AreRead) {
  const PackageRecords records("a.pt", reader(package()));
  EXPECT_EQ(records.resource("extra_files", "text"), "some text");
  expectError<PackageError>([&] { records.requireResource("extra_files", "tex"); },
                            {"a.pt", "found no record extra_files/tex", "extra_files/text"});
}

// torch makes a number of it with std::stoull, whose exception is not one of torch's.
TEST(PackageRecords, WithAVersionThatIsNoNumberAreRefused) {
  for (const char first : {'x', '\0', '-'}) {
    std::string bytes = package();
    const auto at = PyTorchStreamReader(reader(bytes)).getRecordOffset("version");
    bytes[at] = first;
    expectError<PackageError>([&] { PackageRecords("a.pt", reader(bytes)); },
                              {"a.pt", "torch cannot read", "expected a torch.package"});
  }
}

// torch refuses to list the records of such a file, which is done for an error.
TEST(PackageRecords, OutsideOfTheArchivesFolderAreDamage) {
  std::string bytes = package();
  bytes[bytes.rfind("archive/extra_files/text")] = 'X';  // in the central directory
  const PackageRecords records("a.pt", reader(bytes));
  expectError<PackageError>([&] { static_cast<void>(records.resource("extra_files", "text")); },
                            {"a.pt", "cannot read 'text' of 'extra_files'", "Xrchive"});
}

TEST(PackageRecords, OfAFileThatIsCutOffAreRefused) {
  const auto file = reader(package());
  const PackageRecords records("a.pt", file);
  file->bytes.resize(100);
  expectError<PackageError>([&] { static_cast<void>(records.resource("extra_files", "text")); },
                            {"a.pt", "cannot read 'text'", "changed since it was opened?"});
  expectError<PackageError>([&] { PackageRecords("b.pt", file); }, {"b.pt", "torch cannot read"});
}

// torch would take the 2 GiB that such a file's directory speaks of.
TEST(PackageRecords, ThatSayTheyAreLargerThanTheFileCanHoldAreRefused) {
  std::string bytes = package(/*compressed=*/true);
  const auto entry = bytes.rfind("archive/extra_files/text") - kNameInDirectoryEntry;
  const std::uint32_t size = 0x8000'0000;
  std::memcpy(&bytes[entry + kSizeInDirectoryEntry], &size, sizeof size);
  const PackageRecords records("a.pt", reader(bytes));
  expectError<PackageError>([&] { static_cast<void>(records.resource("extra_files", "text")); },
                            {"a.pt", "found a record of 2147483648 bytes", "can hold"});
}

TEST(PackageRecords, OfAReaderThatThrowsAreRefused) {
  const auto file = reader(package());
  const PackageRecords records("a.pt", file);
  file->fails = true;
  expectError<PackageError>([&] { static_cast<void>(records.resource("extra_files", "text")); },
                            {"a.pt", "the network is down"});
  expectError<PackageError>([&] { PackageRecords("b.pt", file); }, {"b.pt", "the network is down"});
}

}  // namespace
}  // namespace multipy::runtime
