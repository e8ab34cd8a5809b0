#include "runtime/arena_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "weir/session.h"

namespace weir {
namespace {

constexpr size_t kMb = 1 << 20;

class Arenas : public ::testing::Test {
 protected:
  ArenaPool::Request request(size_t bytes, int device = 0) { return {device, bytes, "the test"}; }

  DeviceSet devices_{SessionOptions{.virtual_gpus = {.count = 1, .memory_limit = 10 * kMb}}};
  ArenaPool pool_{devices_, 64 * kMb};
};

TEST_F(Arenas, TheLastOneIsTakenAgain) {
  auto first = pool_.acquire(request(kMb), nullptr);
  pool_.release(*first);
  EXPECT_EQ(pool_.acquire(request(kMb), first), first);
}

TEST_F(Arenas, RunsThatFollowEachOtherShareOne) {
  auto large = pool_.acquire(request(3 * kMb), nullptr);
  pool_.release(*large);
  auto small = pool_.acquire(request(kMb), nullptr);
  EXPECT_EQ(small, large);
  pool_.release(*small);
}

TEST_F(Arenas, RunsAtOnceHaveDifferentOnes) {
  auto first = pool_.acquire(request(kMb), nullptr);
  auto second = pool_.acquire(request(kMb), first);
  EXPECT_NE(first, second);
}

TEST_F(Arenas, OneThatIsTooSmallIsReplaced) {
  auto small = pool_.acquire(request(2 * kMb), nullptr);
  pool_.release(*small);
  auto large = pool_.acquire(request(4 * kMb), small);
  EXPECT_LT(pool_.bytes(), 5 * kMb);
  pool_.release(*large);
  EXPECT_EQ(pool_.acquire(request(2 * kMb), small), large);  // its memory is gone, whoever remembers it
}

TEST_F(Arenas, IdleMemoryIsBounded) {
  std::vector<std::shared_ptr<Arena>> arenas;
  for (int i = 0; i < 8; ++i) arenas.push_back(pool_.acquire(request(16 * kMb), nullptr));
  for (const auto& arena : arenas) pool_.release(*arena);
  pool_.acquire(request(kMb), nullptr);
  EXPECT_LE(pool_.bytes(), 66 * kMb);
  pool_.trim();
  EXPECT_LE(pool_.bytes(), 2 * kMb);
}

TEST_F(Arenas, IdleOnesGoBeforeADeviceIsFull) {
  auto first = pool_.acquire(request(2 * kMb, 1), nullptr);
  pool_.release(*first);
  auto second = pool_.acquire(request(9 * kMb, 1), nullptr);
  EXPECT_THROW(pool_.acquire(request(2 * kMb, 1), nullptr), Error);
}

TEST_F(Arenas, NoTwoThreadsEverHaveTheSameOne) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::shared_ptr<Arena> arena;
      for (int i = 0; i < 500; ++i) {
        const size_t bytes = 4096 * (1 + static_cast<size_t>(i * (t + 1)) % 7);
        arena = pool_.acquire(request(bytes), arena);
        std::memset(arena->data(), t, bytes);
        for (size_t at = 0; at < bytes; at += 512) ASSERT_EQ(arena->data()[at], t);
        pool_.release(*arena);
        if (i % 100 == 0) pool_.trim();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weir
