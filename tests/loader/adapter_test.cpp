// What a LibraryAdapter is told and asked, and when.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <set>

#include "loader/private_space.h"
#include "loader/texts.h"
#include "loader/workbench.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader::testing {
namespace {

/// Writes down all calls, by file name.
class Recorder final : public LibraryAdapter {
 public:
  Renames renames(const elf::SharedObject& library) override {
    const std::string name = nameOf(library.name());
    log.push_back("renames " + name);
    if (name == refused) throw runtime::UnsupportedTorchError(name + " is not known", {"a", "b"});
    return answer;
  }
  void beforeLoad(InterpreterId slot, const std::filesystem::path& original) override {
    log.push_back("before " + std::to_string(slot.number()) + " " + nameOf(original));
  }
  void afterLoad(InterpreterId slot, const std::filesystem::path& original, void* handle) override {
    log.push_back((handle ? "after " : "failed ") + std::to_string(slot.number()) + " " +
                  nameOf(original));
  }
  void mapped(InterpreterId slot, const void* begin, const void* end) override {
    log.push_back("mapped " + std::to_string(slot.number()));
    ranges.emplace_back(begin, end);
  }
  void unmapped(InterpreterId slot) override {
    log.push_back("unmapped " + std::to_string(slot.number()));
  }

  int rangesWith(const void* address) const {
    int count = 0;
    for (const auto& [begin, end] : ranges) count += begin <= address && address < end;
    return count;
  }
  std::vector<std::string> take() { return std::exchange(log, {}); }

  std::vector<std::string> log;
  std::vector<std::pair<const void*, const void*>> ranges;
  Renames answer;
  std::string refused;

 private:
  static std::string nameOf(const std::filesystem::path& path) { return path.filename(); }
};

using Log = std::vector<std::string>;

class AdapterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    bench_.build("site-packages/libbase.so", "int data = 1; int base(void) { return data; }",
                 "-Wl,-soname,libbase.so");
    bench_.build("site-packages/libmiddle.so",
                 "int base(void); int middle(void) { return base(); }",
                 needs("libbase.so") + " -Wl,-soname,libmiddle.so");
    top_ =
        bench_.build("site-packages/top.so", "int middle(void); int top(void) { return middle(); }",
                     needs("libmiddle.so"));
  }
  std::string needs(const std::string& library) const {
    return "-L'" + (bench_ / "site-packages").string() + "' -l:" + library +
           " -Wl,-rpath,'$ORIGIN' -Wl,-rpath-link,'" + (bench_ / "site-packages").string() + "'";
  }
  std::unique_ptr<LivingSpace> newSpace(int slot) {
    return std::make_unique<LivingSpace>(bench_, slot, policy_, cache_, &recorder_);
  }

  Workbench bench_;
  Recorder recorder_;
  std::shared_ptr<IsolationPolicy> policy_ = std::make_shared<IsolationPolicy>(
      std::vector<std::filesystem::path>{bench_ / "site-packages"});
  std::shared_ptr<CopyCache> cache_ = CopyCache::in(bench_ / "cache");
  std::filesystem::path top_;
};

TEST_F(AdapterTest, IsAskedForAllRenamesBeforeAnythingIsLoadedDependenciesFirst) {
  {
    auto space = newSpace(3);
    EXPECT_EQ(recorder_.take(), Log{"mapped 3"}) << "the interpreter";
    void* handle = (*space)->load(top_);
    EXPECT_EQ(recorder_.take(), (Log{"renames libbase.so", "renames libmiddle.so", "renames top.so",
                                     "before 3 libbase.so", "mapped 3", "after 3 libbase.so",
                                     "before 3 libmiddle.so", "mapped 3", "after 3 libmiddle.so",
                                     "before 3 top.so", "mapped 3", "after 3 top.so"}));
    (*space)->load(top_);
    EXPECT_EQ(recorder_.take(), Log{}) << "it is there";
    EXPECT_EQ(recorder_.rangesWith(addressOf(handle, "top")), 1);
    EXPECT_EQ(recorder_.rangesWith(addressOf(handle, "base")), 1);
    EXPECT_EQ(recorder_.rangesWith(addressOf(handle, "data")), 1) << "writable data, too";
    EXPECT_EQ(recorder_.rangesWith(addressOf(space->interpreter(), "PzThing_Who")), 1);
    EXPECT_EQ(recorder_.rangesWith(reinterpret_cast<void*>(&::malloc)), 0);
  }
  EXPECT_EQ(recorder_.take(), Log{"unmapped 3"});
}

TEST_F(AdapterTest, SharedLibrariesAreNotItsBusiness) {
  policy_->override("*", Isolation::Shared);
  auto space = newSpace(0);
  recorder_.take();
  (*space)->load(top_);
  EXPECT_EQ(recorder_.take(), Log{});
}

TEST_F(AdapterTest, MayRefuseALibraryBeforeAnythingIsWrittenOrLoaded) {
  auto space = newSpace(0);
  recorder_.take();
  recorder_.refused = "top.so";
  EXPECT_THROW((*space)->load(top_), runtime::UnsupportedTorchError);
  EXPECT_EQ(recorder_.take(),
            (Log{"renames libbase.so", "renames libmiddle.so", "renames top.so"}));
  EXPECT_EQ(mappingsOf("libbase.so"), 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(bench_ / "cache")) {
    EXPECT_NE(entry.path().filename(), "libbase.so");
  }
  recorder_.refused.clear();
  EXPECT_EQ(call((*space)->load(top_), "top"), 1) << "it is no verdict for ever";
}

TEST_F(AdapterTest, IsToldOfFailure) {
  const auto broken =
      bench_.build("site-packages/broken.so", "int no(void); int f(void) { return no(); }");
  auto space = newSpace(0);
  recorder_.take();
  EXPECT_THROW((*space)->load(broken), runtime::LoadError);
  EXPECT_EQ(recorder_.take(),
            (Log{"renames broken.so", "before 0 broken.so", "failed 0 broken.so"}));
  EXPECT_EQ((*space)->loaded().size(), 1u);
}

TEST_F(AdapterTest, ItsRenamesAreMadeAndArePartOfTheKey) {
  // "answer" is undefined here and gets the interpreter's function; "own" is the
  // library's, called through its PLT, and is redirected as well.
  const auto library = bench_.build("site-packages/redirected.so", R"(
      int answer(void);
      __attribute__((noinline)) int own(void) { return 1; }
      int callOwn(void) { return own(); }
      int callAnswer(void) { return answer(); })",
                                    "-fno-inline -fsemantic-interposition");
  recorder_.answer.undefined = {{"answer", "_PzThing_Count"}};
  recorder_.answer.defined = {{"own", "_PzThing_Count"}};
  recorder_.answer.version = "1";
  auto space = newSpace(0);
  void* handle = (*space)->load(library);
  EXPECT_EQ(call(handle, "callAnswer"), 1);
  EXPECT_EQ(call(handle, "callOwn"), 2);
  const auto copy = (*space)->loaded().back().copy;

  Recorder another;
  another.answer = recorder_.answer;
  another.answer.version = "2";
  LivingSpace next(bench_, 1, policy_, cache_, &another);
  EXPECT_NE((next->load(library), next->loaded().back().copy), copy);
}

TEST_F(AdapterTest, LibrariesThatNeedEachOtherAreAnnouncedAsOne) {
  const std::string lenient = " -Wl,--allow-shlib-undefined -Wl,--no-as-needed ";
  bench_.build("site-packages/libb.so", "int b(void) { return 2; }", "-Wl,-soname,libb.so");
  bench_.build("site-packages/liba.so", "int b(void); int a(void) { return b(); }",
               lenient + needs("libb.so") + " -Wl,-soname,liba.so");
  bench_.build("site-packages/libb.so",
               "int a(void); int b(void) { return 2; } int c(void) { return a(); }",
               lenient + needs("liba.so") + " -Wl,-soname,libb.so");
  auto space = newSpace(0);
  recorder_.take();
  void* handle = (*space)->load(bench_ / "site-packages/liba.so");
  EXPECT_EQ(recorder_.take(), (Log{"renames libb.so", "renames liba.so", "before 0 liba.so",
                                   "mapped 0", "mapped 0", "after 0 liba.so"}));
  EXPECT_EQ(call(handle, "c"), 2);
  EXPECT_EQ(recorder_.rangesWith(addressOf(handle, "b")), 1);
}

}  // namespace
}  // namespace multipy::loader::testing
