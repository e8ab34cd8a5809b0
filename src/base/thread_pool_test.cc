#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/denormals.h"
#include "tests/support/child.h"

namespace weir {
namespace {

TEST(ThreadPool, CallsEachIndexOnce) {
  for (int threads : {1, 2, 4, 9}) {
    ThreadPool pool(threads);
    for (int64_t n : {1, 2, 7, 64, 1000}) {
      for (int64_t grain : {1, 3, 64, 2000}) {
        std::vector<std::atomic<int>> calls(static_cast<size_t>(n));
        pool.parallel_for(n, grain, [&](int64_t begin, int64_t end) {
          EXPECT_EQ(begin % grain, 0);
          EXPECT_EQ(end, std::min(begin + grain, n));
          for (int64_t i = begin; i < end; ++i) ++calls[static_cast<size_t>(i)];
        });
        for (auto& count : calls) EXPECT_EQ(count, 1);
      }
    }
  }
}

TEST(ThreadPool, DoesNothingForAnEmptyLoop) {
  ThreadPool pool(2);
  pool.parallel_for(0, 1, [](int64_t, int64_t) { FAIL(); });
  pool.parallel_for(-5, 1, [](int64_t, int64_t) { FAIL(); });
}

TEST(ThreadPool, TakesGrainsBelowOneAsOne) {
  ThreadPool pool(2);
  std::atomic<int> calls = 0;
  pool.parallel_for(5, 0, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(end, begin + 1);
    ++calls;
  });
  EXPECT_EQ(calls, 5);
}

TEST(ThreadPool, WorkersHelp) {
  ThreadPool pool(3);
  // Each block waits for the others, so the loop ends only if three threads work on it.
  std::atomic<int> inside = 0;
  pool.parallel_for(3, 1, [&](int64_t, int64_t) {
    ++inside;
    while (inside < 3) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 3);
}

TEST(ThreadPool, NumbersThreadsBelowTheirCount) {
  ThreadPool pool(4);
  EXPECT_EQ(ThreadPool::thread_index(), 0);
  std::vector<std::atomic<int>> busy(4);
  for (int round = 0; round < 200; ++round) {
    pool.parallel_for(16, 1, [&](int64_t, int64_t) {
      const int index = ThreadPool::thread_index();
      ASSERT_GE(index, 0);
      ASSERT_LT(index, 4);
      EXPECT_EQ(busy[static_cast<size_t>(index)]++, 0);
      busy[static_cast<size_t>(index)]--;
    });
  }
}

TEST(ThreadPool, RunsNestedLoopsInTheCallingThread) {
  ThreadPool pool(4), other(2);
  std::atomic<int> calls = 0;
  pool.parallel_for(8, 1, [&](int64_t, int64_t) {
    const auto self = std::this_thread::get_id();
    for (ThreadPool* inner : {&pool, &other}) {
      inner->parallel_for(10, 1, [&](int64_t, int64_t) {
        EXPECT_EQ(std::this_thread::get_id(), self);
        EXPECT_EQ(ThreadPool::thread_index(), 0);
        ++calls;
      });
    }
  });
  EXPECT_EQ(calls, 160);
}

TEST(ThreadPool, SpreadsLoopsInsideASingleBlock) {
  ThreadPool pool(2);
  std::atomic<int> inside = 0;
  pool.parallel_for(1, 1, [&](int64_t, int64_t) {
    pool.parallel_for(2, 1, [&](int64_t, int64_t) {
      ++inside;
      while (inside < 2) std::this_thread::yield();
    });
  });
  EXPECT_EQ(inside, 2);
}

TEST(ThreadPool, ForwardsTheFirstExceptionAndStaysUsable) {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 50; ++round) {
      std::atomic<int> calls = 0;
      EXPECT_THROW(pool.parallel_for(1000, 1,
                                     [&](int64_t begin, int64_t) {
                                       ++calls;
                                       if (begin == 3) throw std::runtime_error("three");
                                     }),
                   std::runtime_error);
      EXPECT_GE(calls, 1);
      std::atomic<int64_t> sum = 0;
      pool.parallel_for(100, 1, [&](int64_t begin, int64_t) { sum += begin; });
      EXPECT_EQ(sum, 4950);
    }
  }
}

TEST(ThreadPool, SkipsBlocksAfterAnException) {
  ThreadPool pool(1);
  int calls = 0;
  EXPECT_THROW(pool.parallel_for(10, 1,
                                 [&](int64_t begin, int64_t) {
                                   ++calls;
                                   if (begin == 3) throw std::runtime_error("three");
                                 }),
               std::runtime_error);
  EXPECT_EQ(calls, 4);
}

TEST(ThreadPool, ServesManyCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  for (int c = 0; c < 40; ++c) {  // more than there are places for running loops
    callers.emplace_back([&pool] {
      for (int round = 0; round < 100; ++round) {
        std::vector<int64_t> out(37);
        pool.parallel_for(37, 5, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) out[static_cast<size_t>(i)] = i * i;
        });
        for (int64_t i = 0; i < 37; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], i * i);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(ThreadPool, ALoopDoesNotWaitForAnotherCallersLoop) {
  ThreadPool pool(2);
  std::atomic<bool> release = false;
  std::atomic<int> waiting = 0;
  std::thread slow([&] {
    pool.parallel_for(2, 1, [&](int64_t, int64_t) {
      ++waiting;
      while (!release) std::this_thread::yield();
    });
  });
  while (waiting < 2) std::this_thread::yield();  // the only worker is held now
  int64_t sum = 0;
  pool.parallel_for(4, 1, [&](int64_t begin, int64_t) { sum += begin; });
  EXPECT_EQ(sum, 6);
  release = true;
  slow.join();
}

TEST(ThreadPool, WakesSleepingWorkers) {
  ThreadPool pool(2);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than workers poll
    std::atomic<int> inside = 0;
    pool.parallel_for(2, 1, [&](int64_t, int64_t) {
      ++inside;
      while (inside < 2) std::this_thread::yield();
    });
  }
}

TEST(ThreadPool, WaitsForASlowWorker) {
  ThreadPool pool(2);
  std::atomic<int> inside = 0;
  std::atomic<bool> worker_done = false;
  pool.parallel_for(2, 1, [&](int64_t, int64_t) {
    ++inside;
    while (inside < 2) std::this_thread::yield();
    if (ThreadPool::thread_index() == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // longer than the caller polls
    worker_done = true;
  });
  EXPECT_TRUE(worker_done);
}

TEST(ThreadPool, EndsWhileWorkersSpinOrSleep) {
  for (int round = 0; round < 20; ++round) {
    ThreadPool pool(4);
    if (round % 2) pool.parallel_for(8, 1, [](int64_t, int64_t) {});
  }
}

#ifndef WEIR_THREAD_SANITIZER  // which lets no child of several threads start threads
TEST(ThreadPool, HasWorkersInAChildProcessToo) {
  auto pool = std::make_unique<ThreadPool>(4);
  auto sum = [&] {
    std::atomic<int64_t> total = 0;
    pool->parallel_for(1000, 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) total += i;
    });
    return total.load();
  };
  EXPECT_EQ(sum(), 499500);
  EXPECT_TRUE(testing::in_a_child([&] {
    // Every block waits for the others: it takes four threads to get through.
    std::atomic<int> inside = 0;
    pool->parallel_for(4, 1, [&](int64_t, int64_t) {
      ++inside;
      while (inside < 4) std::this_thread::yield();
    });
    const bool right = sum() == 499500;
    pool.reset();  // ends the workers of this process, not those of the other
    return right;
  }));
  EXPECT_EQ(sum(), 499500);
}

TEST(ThreadPool, IsForgottenInAChildProcessThatNeverUsesIt) {
  auto pool = std::make_unique<ThreadPool>(4);
  EXPECT_TRUE(testing::in_a_child([&] {
    pool.reset();
    return true;
  }));
}
#endif

TEST(ThreadPool, WorkersTreatDenormalsAsTheCallerDoes) {
  ThreadPool pool(4);
  auto modes = [&] {
    std::array<std::atomic<DenormalMode>, 4> seen;
    std::atomic<int> inside = 0;
    pool.parallel_for(4, 1, [&](int64_t block, int64_t) {
      seen[static_cast<size_t>(block)] = denormal_mode();
      ++inside;
      while (inside < 4) std::this_thread::yield();  // each block has a thread of its own
    });
    return std::set<DenormalMode>(seen.begin(), seen.end());
  };
  EXPECT_EQ(modes(), std::set<DenormalMode>{kKeepDenormals});
  {
    DenormalScope scope(kFlushDenormals);
    EXPECT_EQ(modes(), std::set<DenormalMode>{kFlushDenormals});
  }
  EXPECT_EQ(modes(), std::set<DenormalMode>{kKeepDenormals});
}

TEST(ThreadPool, TakesThreadCountsBelowOneAsOne) {
  ThreadPool pool(-3);
  EXPECT_EQ(pool.threads(), 1);
}

}  // namespace
}  // namespace weir
