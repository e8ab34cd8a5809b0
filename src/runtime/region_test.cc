#include "runtime/region.h"

#include <gtest/gtest.h>

#include <mutex>

#include "runtime/arena.h"

namespace weir {
namespace {

// Two independent chains of `length` steps of `microseconds` each, in plan order one after the other.
std::vector<StepFacts> two_chains(int length, double microseconds) {
  std::vector<StepFacts> steps;
  for (int chain = 0; chain < 2; ++chain) {
    for (int i = 0; i < length; ++i) {
      StepFacts step{microseconds, {}};
      if (i > 0) step.before.push_back(static_cast<int>(steps.size()) - 1);
      steps.push_back(step);
    }
  }
  return steps;
}

TEST(Regions, AreFoundWhereBranchesAreIndependent) {
  std::vector<Region> regions = find_regions(two_chains(10, 10), 0, 2);
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_EQ(regions[0].steps(), 20);
}

TEST(Regions, AreNotMadeOfOneThreadTinyOrLargeSteps) {
  EXPECT_TRUE(find_regions(two_chains(10, 10), 0, 1).empty());
  EXPECT_TRUE(find_regions(two_chains(3, 0.3), 0, 2).empty());
  EXPECT_TRUE(find_regions(two_chains(3, 500), 0, 2).empty());
}

TEST(Regions, RunEveryStepOnceAfterItsDependencies) {
  std::vector<StepFacts> facts = two_chains(20, 10);
  facts.push_back({10, {19, 39}});
  std::vector<Region> regions = find_regions(facts, 0, 4);
  ASSERT_EQ(regions.size(), 1u);
  regions[0].held.push_back({7, 2});
  regions[0].reads[0].push_back(0);
  regions[0].reads[25].push_back(0);
  ThreadPool pool(4);
  RegionRun run(regions[0]);
  for (int round = 0; round < 50; ++round) {
    std::mutex mutex;
    std::vector<int> done(facts.size(), 0), let_go;
    run.run(
        pool, 4,
        [&](int step) {
          std::lock_guard lock(mutex);
          for (int before : facts[static_cast<size_t>(step)].before) EXPECT_EQ(done[static_cast<size_t>(before)], 1);
          ++done[static_cast<size_t>(step)];
        },
        [&](int slot) {
          std::lock_guard lock(mutex);
          EXPECT_EQ(done[0] + done[25], 2);
          let_go.push_back(slot);
        });
    for (int count : done) EXPECT_EQ(count, 1);
    EXPECT_EQ(let_go, std::vector<int>{7});
  }
}

TEST(Regions, ForwardTheFirstException) {
  std::vector<Region> regions = find_regions(two_chains(10, 10), 0, 2);
  ThreadPool pool(2);
  RegionRun run(regions[0]);
  EXPECT_THROW(run.run(
                   pool, 2,
                   [](int step) {
                     if (step == 5) throw std::runtime_error("five");
                   },
                   [](int) {}),
               std::runtime_error);
}

TEST(Arena, ReusesFreedPlacesAndNeverOverlaps) {
  ArenaLayout layout;
  size_t a = layout.allocate(100), b = layout.allocate(1000), c = layout.allocate(100);
  EXPECT_EQ(a % 64, 0u);
  EXPECT_GE(b, a + 100);
  EXPECT_GE(c, b + 1000);
  layout.free(b, 1000);
  size_t d = layout.allocate(500), e = layout.allocate(400);
  EXPECT_EQ(d, b);
  EXPECT_EQ(e, b + 512);
  size_t before = layout.size();
  layout.free(a, 100);
  layout.free(d, 500);
  EXPECT_EQ(layout.allocate(600), a) << "neighbouring holes join";
  EXPECT_EQ(layout.size(), before);
}

}  // namespace
}  // namespace weir
