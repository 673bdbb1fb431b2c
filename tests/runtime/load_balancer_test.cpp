#include "multipy/runtime/load_balancer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "runtime/scheduling/interpreter_users.h"

namespace multipy::runtime {
namespace {

using testing_support::expectError;

TEST(LoadBalancer, GivesFreeInterpretersFirst) {
  LoadBalancer balancer(4);
  std::set<int> given;
  for (int i = 0; i < 4; ++i) given.insert(balancer.acquire());
  EXPECT_EQ(given, (std::set<int>{0, 1, 2, 3}));
  for (int where : given) EXPECT_EQ(balancer.users(where), 1u);
}

TEST(LoadBalancer, ThreadKeepsItsInterpreterWhileThatIsFree) {
  LoadBalancer balancer(8);
  const int first = balancer.acquire();
  balancer.free(first);
  for (int i = 0; i < 100; ++i) {
    const int where = balancer.acquire();
    EXPECT_EQ(where, first);
    balancer.free(where);
  }
}

TEST(LoadBalancer, GivesTheLeastUsedWhenNoneIsFree) {
  LoadBalancer balancer(3);
  for (int i = 0; i < 6; ++i) balancer.acquire();
  for (int where = 0; where < 3; ++where) ASSERT_EQ(balancer.users(where), 2u);
  balancer.free(1);
  EXPECT_EQ(balancer.acquire(), 1);
}

TEST(LoadBalancer, LimitKeepsToTheFirst) {
  LoadBalancer balancer(4);
  balancer.setResourceLimit(2);
  for (int i = 0; i < 20; ++i) EXPECT_LT(balancer.acquire(), 2);
  balancer.setResourceLimit(4);
  std::set<int> given;
  for (int i = 0; i < 2; ++i) given.insert(balancer.acquire());
  EXPECT_EQ(given, (std::set<int>{2, 3}));
}

TEST(LoadBalancer, UsersAboveALoweredLimitCanStillBeFreed) {
  LoadBalancer balancer(2);
  std::vector<int> given{balancer.acquire(), balancer.acquire()};
  balancer.setResourceLimit(1);
  for (int where : given) balancer.free(where);
  EXPECT_EQ(balancer.users(0) + balancer.users(1), 0u);
}

TEST(LoadBalancer, RefusesWhatCannotBeRight) {
  expectError<InvalidArgument>([] { LoadBalancer balancer(0); }, {"is 0", "at least 1"});
  LoadBalancer balancer(2);
  expectError<InvalidArgument>([&] { balancer.setResourceLimit(0); }, {"limit is 0", "1 to"});
  expectError<InvalidArgument>([&] { balancer.setResourceLimit(3); }, {"limit is 3", "2"});
  expectError<InvalidArgument>([&] { balancer.free(2); }, {"no interpreter 2", "0 to 1"});
  expectError<InvalidArgument>([&] { balancer.users(2); }, {"no interpreter 2", "0 to 1"});
  expectError<InvalidArgument>([&] { balancer.free(-1); }, {"no interpreter -1"});
  expectError<InvalidArgument>([&] { balancer.free(0); }, {"interpreter 0", "no user"});
  EXPECT_EQ(balancer.users(0), 0u);
}

TEST(LoadBalancer, CountsAreExactUnderManyThreads) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 20000;
  LoadBalancer balancer(3);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        const int first = balancer.acquire();
        const int second = balancer.acquire();
        balancer.free(first);
        balancer.free(second);
      }
    });
  for (auto& thread : threads) thread.join();
  for (int where = 0; where < 3; ++where) EXPECT_EQ(balancer.users(where), 0u);
}

TEST(InterpreterUsers, GivesAFreeOneOrNone) {
  InterpreterUsers users(2);
  const std::set<int> given{users.acquireFree(), users.acquireFree()};
  EXPECT_EQ(given, (std::set<int>{0, 1}));
  EXPECT_EQ(users.acquireFree(), -1);
  EXPECT_EQ(users.users(0) + users.users(1), 2u);
  users.free(1);
  EXPECT_EQ(users.acquireFree(), 1);
  users.free(1);
  users.setResourceLimit(1);
  EXPECT_EQ(users.limit(), 1u);
  EXPECT_EQ(users.acquireFree(), -1);
}

TEST(InterpreterUsers, AnInterpreterCanBeJoined) {
  InterpreterUsers users(2);
  users.join(1);
  EXPECT_FALSE(users.joinIf(1, 0));
  EXPECT_TRUE(users.joinIf(1, 1));
  EXPECT_EQ(users.users(1), 2u);
  EXPECT_EQ(users.users(0), 0u);
  expectError<InvalidArgument>([&] { users.join(2); }, {"no interpreter 2", "0 to 1"});
  expectError<InvalidArgument>([&] { users.joinIf(-1, 0); }, {"no interpreter -1"});
}

TEST(LoadBalancer, AsManyThreadsAsInterpretersSettleOnOneEach) {
  constexpr int kThreads = 4;
  LoadBalancer balancer(kThreads);
  std::vector<int> kept(kThreads);
  std::vector<std::thread> threads;
  std::atomic<int> arrived{0};
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      kept[t] = balancer.acquire();
      ++arrived;
      while (arrived < kThreads) std::this_thread::yield();
      for (int i = 0; i < 1000; ++i) {
        balancer.free(kept[t]);
        kept[t] = balancer.acquire();
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::set<int>(kept.begin(), kept.end()).size(), static_cast<std::size_t>(kThreads));
}

TEST(InterpreterUsers, GivesWhatIsSetAsideOnlyIfAllAre) {
  InterpreterUsers users(3);
  users.setAside(1);
  EXPECT_TRUE(users.isSetAside(1));
  for (int i = 0; i < 9; ++i) EXPECT_NE(users.acquire(), 1);
  EXPECT_EQ(users.acquireFree(), -1);
  EXPECT_EQ(users.users(1), 0u);
  users.setAside(0);
  EXPECT_EQ(users.acquire(), 2);
  users.setAside(2);
  EXPECT_EQ(users.acquire(), 1);
}

TEST(InterpreterUsers, CountsUsersOfWhatIsSetAside) {
  InterpreterUsers users(2);
  const int where = users.acquire();
  users.setAside(where);
  EXPECT_EQ(users.users(where), 1u);
  users.free(where);
  EXPECT_EQ(users.users(where), 0u);
  EXPECT_THROW(users.free(where), InvalidArgument);
}

TEST(InterpreterUsers, AClosedPlaceKeepsItsUsersAndGetsNone) {
  InterpreterUsers users(2);
  ASSERT_TRUE(users.join(0));
  EXPECT_FALSE(users.close(0)) << "it has a user";
  EXPECT_TRUE(users.isClosed(0));
  EXPECT_EQ(users.users(0), 1u);
  EXPECT_FALSE(users.join(0));
  EXPECT_EQ(users.users(0), 1u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(users.acquire(), 1);
  EXPECT_EQ(users.counts().open, 1u);
  EXPECT_EQ(users.counts().busy, 1u);
  for (int i = 0; i < 4; ++i) users.free(1);
  EXPECT_TRUE(users.close(1));
  EXPECT_EQ(users.acquireFree(), -1);
  EXPECT_EQ(users.acquire(), -1) << "there is none left";
  EXPECT_EQ(users.counts().open, 0u);
}

TEST(InterpreterUsers, TellsWhenAClosedPlaceHasLostItsLastUser) {
  InterpreterUsers users(2);
  int told = 0;
  users.whenDrained([&] { ++told; });
  users.join(0);
  users.join(0);
  users.free(0);
  EXPECT_EQ(told, 0) << "it is open";
  users.join(0);
  users.close(0);
  users.free(0);
  EXPECT_EQ(told, 0) << "one is left";
  users.free(0);
  EXPECT_EQ(told, 1);
  users.open(0);
  EXPECT_EQ(users.users(0), 0u);
  ASSERT_TRUE(users.join(0));
  users.free(0);
  EXPECT_EQ(told, 1);
}

TEST(InterpreterUsers, APlaceThatIsOpenedIsGivenOut) {
  InterpreterUsers users(1, 3);
  EXPECT_EQ(users.limit(), 1u);
  EXPECT_EQ(users.acquire(), 0);
  EXPECT_EQ(users.acquireFree(), -1);
  users.open(2);
  EXPECT_EQ(users.limit(), 3u);
  EXPECT_EQ(users.acquire(), 2);
  EXPECT_TRUE(users.isClosed(1));
  EXPECT_EQ(users.counts().open, 2u);
}

TEST(InterpreterUsers, WhatIsSetAsideIsStillGivenIfAllOthersAreClosed) {
  InterpreterUsers users(2);
  users.setAside(0);
  users.close(1);
  EXPECT_EQ(users.acquireFree(), 0);
}

TEST(InterpreterUsers, NoUserIsLostWhilePlacesOpenAndClose) {
  InterpreterUsers users(2);
  std::atomic<bool> done = false;
  std::jthread closer([&] {
    for (int i = 0; i < 300; ++i) {
      users.close(i % 2);
      std::this_thread::yield();
      users.open(i % 2);
    }
    done = true;
  });
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!done)
        if (const int where = users.acquire(); where >= 0) users.free(where);
    });
  threads.clear();
  closer.join();
  EXPECT_EQ(users.users(0) + users.users(1), 0u);
}

}  // namespace
}  // namespace multipy::runtime
