#include "runtime/part_run.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace weir {
namespace {

TEST(PartRun, GivesEveryPartAThreadOfItsOwn) {
  std::shared_ptr<LanePool> lanes = LanePool::shared();
  PartRun run(4);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::set<int> done;
  std::thread::id first;
  run.run(*lanes, 3, [&](int part) {
    std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    done.insert(part);
    if (part == 0) first = std::this_thread::get_id();
  });
  EXPECT_EQ(done, (std::set<int>{0, 1, 2}));
  EXPECT_EQ(threads.size(), 3u);
  EXPECT_EQ(first, std::this_thread::get_id());
}

TEST(PartRun, PartsTakeTurnsByWaitingForEachOther) {
  std::shared_ptr<LanePool> lanes = LanePool::shared();
  PartRun run(2);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<int> order;
    run.run(*lanes, 2, [&](int part) {
      for (int step = 0; step < 50; ++step) {
        if (part == 1 ? !run.wait(0, step + 1) : step > 0 && !run.wait(1, step)) return;
        order.push_back(part);
        run.publish(part, step + 1);
      }
    });
    ASSERT_EQ(order.size(), 100u);
    for (size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], static_cast<int>(i % 2));
  }
}

TEST(PartRun, TheFirstExceptionWakesWhoWaitsAndIsThrown) {
  std::shared_ptr<LanePool> lanes = LanePool::shared();
  PartRun run(3);
  for (int thrower = 0; thrower < 3; ++thrower) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      try {
        run.run(*lanes, 3, [&](int part) {
          if (part != thrower) {
            EXPECT_FALSE(run.wait(thrower, 1));
            return;
          }
          if (repeat % 2) std::this_thread::sleep_for(std::chrono::microseconds(200));  // the others sleep by now
          throw std::runtime_error("part " + std::to_string(part));
        });
        FAIL();
      } catch (const std::runtime_error& e) {
        EXPECT_EQ(e.what(), "part " + std::to_string(thrower));
      }
      EXPECT_TRUE(run.failed());
      run.run(*lanes, 3, [&](int) {});
      EXPECT_FALSE(run.failed());
    }
  }
}

TEST(LanePool, UsesItsThreadsAgain) {
  std::set<std::thread::id> threads;
  {
    std::shared_ptr<LanePool> lanes = LanePool::shared();
    PartRun run(2);
    for (int i = 0; i < 50; ++i) {
      run.run(*lanes, 2, [&](int part) {
        if (part == 1) threads.insert(std::this_thread::get_id());
      });
    }
  }
  EXPECT_LT(threads.size(), 25u);  // a thread that is still on its way back is not waited for
}

}  // namespace
}  // namespace weir
