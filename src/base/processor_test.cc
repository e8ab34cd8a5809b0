#include "base/processor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/thread_pool.h"

#if defined(__linux__)
#include <sched.h>

namespace weir {
namespace {

cpu_set_t allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  return set;
}
bool allow(const cpu_set_t& set) { return sched_setaffinity(0, sizeof(set), &set) == 0; }
cpu_set_t only(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(processor), &set);
  return set;
}

TEST(Processor, IsLeftWithoutAChangeOfThoseThatMayBeUsed) {
  const cpu_set_t before = allowed();
  const bool moved = leave_processor(current_processor());
  EXPECT_EQ(moved, CPU_COUNT(&before) > 1);
  const cpu_set_t after = allowed();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_FALSE(leave_processor(-1));
}

TEST(Processor, IsNotLeftWhereItIsTheOnlyOne) {
  std::thread([] {
    if (!allow(only(current_processor()))) return;
    EXPECT_FALSE(leave_processor(current_processor()));
  }).join();
}

// Workers inherit what their maker may use: here all of them are in the caller's way, for good.
TEST(Processor, SharedWithAllWorkersDoesNotStopLoops) {
  std::thread([] {
    if (!allow(only(current_processor()))) return;
    ThreadPool pool(2);
    for (int round = 0; round < 300; ++round) {
      std::atomic<int64_t> sum{0};
      pool.parallel_for(8, 1, [&](int64_t begin, int64_t) { sum += begin; });
      ASSERT_EQ(sum, 28);
    }
  }).join();
}

TEST(Processor, OfWorkersStaysAmongThoseThatTheyMayUse) {
  const cpu_set_t before = allowed();
  ThreadPool pool(2);
  std::thread([&] {
    if (!allow(only(current_processor()))) return;  // the worker may go where it likes
    for (int round = 0; round < 300; ++round) {
      pool.parallel_for(8, 1, [&](int64_t, int64_t) {
        if (ThreadPool::thread_index() == 0) return;
        const cpu_set_t now = allowed();
        EXPECT_TRUE(CPU_EQUAL(&before, &now));
      });
    }
  }).join();
}

}  // namespace
}  // namespace weir
#endif
