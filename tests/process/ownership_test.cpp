#include "process/ownership.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/interpreter_id.h"
#include "multipy/runtime/Exception.h"

namespace multipy::process {
namespace {

Ownership& ownership() { return Ownership::instance(); }

std::atomic<bool> answer{false};
std::atomic<int> asked{0};
bool holdsWhatTheTestSays() {
  ++asked;
  return answer;
}
bool holdsNothing() { return false; }

// A slot for one test, given back whatever happens.
class Admitted {
 public:
  Admitted() : slot_(ownership().admit()) {}
  ~Admitted() { ownership().release(slot_); }
  operator InterpreterId() const { return slot_; }
  char* begin() const { return static_cast<char*>(ownership().slice(slot_).begin); }

 private:
  InterpreterId slot_;
};

TEST(Ownership, SliceIsAlignedAndReservedOnly) {
  const Admitted slot;
  const AddressRange slice = ownership().slice(slot);
  EXPECT_EQ(slice.size, std::size_t{32} << 30);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slice.begin) % slice.size, 0u);
  // Nothing else may have been mapped there: a hint is not taken.
  void* const elsewhere = ::mmap(slice.begin, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(elsewhere, MAP_FAILED);
  EXPECT_NE(elsewhere, slice.begin);
  ::munmap(elsewhere, 4096);
}

TEST(Ownership, OwnerIsKnownWhileTheInterpreterLives) {
  const Admitted first, second;
  char* const object = first.begin() + 12345;
  EXPECT_EQ(ownership().ownerOf(object), InterpreterId::none()) << "not live yet";
  ownership().setLive(first, holdsNothing);
  ownership().setLive(second, holdsNothing);
  EXPECT_TRUE(ownership().isLive(first));
  EXPECT_EQ(ownership().ownerOf(object), first);
  EXPECT_EQ(ownership().ownerOf(first.begin()), first);
  EXPECT_EQ(ownership().ownerOf(first.begin() + (std::size_t{32} << 30) - 1), first);
  EXPECT_EQ(ownership().ownerOf(second.begin() + 1), second);
  ownership().setDead(first);
  EXPECT_FALSE(ownership().isLive(first));
  EXPECT_EQ(ownership().ownerOf(object), InterpreterId::none());
  EXPECT_EQ(ownership().ownerOf(second.begin() + 1), second);
}

TEST(Ownership, ForeignAddressesHaveNoOwner) {
  const Admitted slot;
  ownership().setLive(slot, holdsNothing);
  int onStack = 0;
  EXPECT_EQ(ownership().ownerOf(&onStack), InterpreterId::none());
  EXPECT_EQ(ownership().ownerOf(nullptr), InterpreterId::none());
  EXPECT_EQ(ownership().ownerOf(reinterpret_cast<void*>(~std::uintptr_t{0})),
            InterpreterId::none());
}

TEST(Ownership, TheNextInterpretersDoNotGetTheSliceOfADeadOne) {
  std::set<void*> seen;
  std::uint64_t generation = 0;
  for (int i = 0; i < 20; ++i) {
    const Admitted slot;
    EXPECT_TRUE(seen.insert(slot.begin()).second) << "slice reused at " << i;
    EXPECT_NE(ownership().generation(slot), generation);
    generation = ownership().generation(slot);
    ownership().setLive(slot, holdsNothing);
  }
}

// Address space is not used up by interpreters that come and go.
TEST(Ownership, SlicesAreUsedAgainWhenTheyHaveRested) {
  std::map<void*, std::size_t> lastUsed;
  std::size_t shortestRest = ~std::size_t{0};
  for (std::size_t i = 0; i < 4 * kRestingSlices; ++i) {
    const Admitted slot;
    const auto [known, isNew] = lastUsed.try_emplace(slot.begin(), i);
    if (!isNew) shortestRest = std::min(shortestRest, i - std::exchange(known->second, i));
  }
  EXPECT_LE(lastUsed.size(), kRestingSlices + 2);
  EXPECT_GT(shortestRest, kRestingSlices);
}

TEST(Ownership, PagesOfADeadSliceAreGivenBack) {
  char* begin = nullptr;
  {
    const Admitted slot;
    begin = slot.begin();
    ASSERT_EQ(::mprotect(begin, 4096, PROT_READ | PROT_WRITE), 0);
    *begin = 1;
  }
  unsigned char resident = 1;
  ASSERT_EQ(::mincore(begin, 4096, &resident), 0) << "still reserved";
  EXPECT_EQ(resident & 1, 0);
  EXPECT_DEATH({ *static_cast<volatile char*>(begin) = 2; }, "");
}

// In a child process: the limit on address space stays with it.
[[noreturn]] void admitWithoutAddressSpace(void* oldestDeadSlice) {
  const rlimit limit{1 << 20, 1 << 20};
  ::setrlimit(RLIMIT_AS, &limit);
  std::set<void*> taken;
  try {
    while (taken.size() < InterpreterId::kMost)
      taken.insert(ownership().slice(ownership().admit()).begin);
  } catch (const runtime::LoadError& error) {
    const bool says =
        std::string(error.what()).find("32 GiB of address space") != std::string::npos;
    std::_Exit(!says ? 3 : taken.contains(oldestDeadSlice) ? 0 : 4);
  }
  std::_Exit(5);
}

TEST(Ownership, WithoutAddressSpaceDeadSlicesAreTakenAgain) {
  void* dead = nullptr;
  {
    const Admitted slot;
    dead = slot.begin();
  }
  EXPECT_EXIT(admitWithoutAddressSpace(dead), testing::ExitedWithCode(0), "");
}

TEST(Ownership, AllSlotsTakenIsAnError) {
  std::vector<std::unique_ptr<Admitted>> all;
  std::string text;
  try {
    for (int i = 0; i <= InterpreterId::kMost; ++i) all.push_back(std::make_unique<Admitted>());
  } catch (const runtime::LoadError& error) {
    text = error.what();
  }
#ifdef __SANITIZE_THREAD__
  // ThreadSanitizer leaves less address space than 256 slices need.
  EXPECT_GT(all.size(), 16u);
  EXPECT_NE(text.find("32 GiB of address space"), std::string::npos) << text;
#else
  EXPECT_EQ(all.size(), static_cast<std::size_t>(InterpreterId::program().number()));
  EXPECT_NE(text.find("all 255 places"), std::string::npos) << text;
#endif
}

TEST(Ownership, WrongSlotsAreErrorsOrDoNothing) {
  EXPECT_THROW(ownership().slice(InterpreterId::none()), runtime::InvalidArgument);
  EXPECT_THROW(ownership().slice(InterpreterId::resident()), runtime::InvalidArgument);
  EXPECT_THROW(ownership().setLive(InterpreterId(InterpreterId::kMost - 1), holdsNothing),
               runtime::InternalError);
  EXPECT_FALSE(ownership().isLive(InterpreterId::none()));
  EXPECT_FALSE(ownership().isLive(InterpreterId::resident()));
  ownership().setDead(InterpreterId::resident());  // nothing happens
  ownership().release(InterpreterId::none());
}

TEST(Ownership, RangesOfPrivateLibraries) {
  static char first[100], second[100];
  const Admitted slot;
  ownership().addRange(slot, first, first + 100);
  ownership().addRange(slot, second, second + 50);
  EXPECT_EQ(ownership().ownerOf(first), InterpreterId::none()) << "not live yet";
  ownership().setLive(slot, holdsNothing);
  EXPECT_EQ(ownership().ownerOf(first), slot);
  EXPECT_EQ(ownership().ownerOf(first + 99), slot);
  EXPECT_EQ(ownership().ownerOf(second + 49), slot);
  EXPECT_EQ(ownership().ownerOf(second + 50), InterpreterId::none());
  ownership().removeRanges(slot);
  EXPECT_EQ(ownership().ownerOf(first), InterpreterId::none());
}

TEST(Ownership, CurrentIsWhatWasEntered) {
  const Admitted slot;
  ownership().setLive(slot, holdsNothing);
  EXPECT_EQ(ownership().current(), InterpreterId::none());
  Ownership::setCurrent(slot);
  EXPECT_EQ(ownership().current(), slot);
  EXPECT_EQ(Ownership::entered(), slot);
  std::thread([] { EXPECT_EQ(ownership().current(), InterpreterId::none()); }).join();
  Ownership::setCurrent(InterpreterId::none());
  EXPECT_EQ(ownership().current(), InterpreterId::none());
}

TEST(Ownership, CurrentIsElseTheHolderOfTheGil) {
  const Admitted slot;
  ownership().setLive(slot, holdsWhatTheTestSays);
  EXPECT_EQ(ownership().current(), InterpreterId::none());
  answer = true;
  EXPECT_EQ(ownership().current(), slot);
  EXPECT_EQ(Ownership::entered(), InterpreterId::none()) << "asked, not set";
  answer = false;
  EXPECT_EQ(ownership().current(), InterpreterId::none()) << "the last answer must not stick";
  ownership().setDead(slot);
  answer = true;
  const int before = asked;
  EXPECT_EQ(ownership().current(), InterpreterId::none());
  EXPECT_EQ(asked, before) << "a dead interpreter must not be asked";
  answer = false;
}

std::atomic<bool> inside{false}, mayLeave{false};
bool takesItsTime() {
  inside = true;
  while (!mayLeave) std::this_thread::yield();
  return false;
}

TEST(Ownership, SetDeadWaitsForThreadsThatAsk) {
  const Admitted slot;
  ownership().setLive(slot, takesItsTime);
  std::thread asking([] { ownership().current(); });
  while (!inside) std::this_thread::yield();
  std::atomic<bool> dead{false};
  std::thread killing([&] {
    ownership().setDead(slot);
    dead = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(dead) << "the library could have been unloaded under the asking thread";
  mayLeave = true;
  killing.join();
  asking.join();
  EXPECT_TRUE(dead);
}

TEST(Ownership, ManyThreadsComeAndGo) {
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const Admitted slot;
        char* const object = slot.begin() + 64;
        ownership().setLive(slot, holdsNothing);
        ownership().addRange(slot, object, object + 1);
        failures += ownership().ownerOf(object) != slot;
        failures += ownership().current() != InterpreterId::none();
        ownership().setDead(slot);
        failures += ownership().ownerOf(object) != InterpreterId::none();
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace multipy::process
