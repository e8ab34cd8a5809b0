#include "distributed/step_stats.h"

#include <gtest/gtest.h>

namespace weir::distributed {
namespace {

proto::StepStats stats_with(int64_t start, int64_t length) {
  proto::StepStats stats;
  auto& node = *stats.add_dev_stats()->add_node_stats();
  node.set_all_start_micros(start);
  node.set_all_end_rel_micros(length);
  return stats;
}

TEST(StepStats, AreMovedOnlyWhenAnotherMachinesClockIsWrong) {
  const CallTime call{.begin = 1'000, .end = 2'000};
  auto moved = [&](int64_t start, int64_t length) {
    proto::StepStats stats = stats_with(start, length);
    fit_clock(stats, call);
    return stats.dev_stats(0).node_stats(0).all_start_micros();
  };
  EXPECT_EQ(moved(1'100, 500), 1'100);
  EXPECT_EQ(moved(700, 500), 1'250);    // begins before it was asked for
  EXPECT_EQ(moved(1'900, 200), 1'400);  // ends after its answer has come
  EXPECT_EQ(moved(900'000, 400), 1'300);
  proto::StepStats empty;
  fit_clock(empty, call);
  EXPECT_EQ(empty.dev_stats_size(), 0);
}

}  // namespace
}  // namespace weir::distributed
