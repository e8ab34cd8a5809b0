#include "runtime/run_count.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace weir {
namespace {

using namespace std::chrono_literals;

TEST(RunCount, CountsThoseInside) {
  RunCount runs;
  runs.enter();
  runs.enter();
  EXPECT_EQ(runs.count(), 2);
  runs.leave([] { ADD_FAILURE() << "nobody has closed it"; });
  runs.leave([] { ADD_FAILURE() << "nobody has closed it"; });
  EXPECT_EQ(runs.count(), 0);
  EXPECT_TRUE(runs.close(0ms));
}

TEST(RunCount, DoesNotWaitForRunsThatGoOn) {
  RunCount runs;
  runs.enter();
  EXPECT_FALSE(runs.close(1ms));
  EXPECT_FALSE(runs.close(1ms));
  EXPECT_EQ(runs.count(), 1);
  int ends = 0;
  runs.leave([&] { ++ends; });
  EXPECT_EQ(ends, 1);
  EXPECT_TRUE(runs.close(1ms));
}

TEST(RunCount, WakesWhoWaitsWhenTheLastRunEnds) {
  for (int round = 0; round < 50; ++round) {
    auto runs = std::make_unique<RunCount>();
    std::atomic<int> ends{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      runs->enter();
      threads.emplace_back([&, all = runs.get()] { all->leave([&] { ++ends; }); });
    }
    runs->close(0ms);
    runs->await_end();
    runs.reset();  // what a session's destructor does
    for (std::thread& thread : threads) thread.join();
    EXPECT_LE(ends, 1);
  }
}

}  // namespace
}  // namespace weir
