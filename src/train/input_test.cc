#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/check_op.h"
#include "weir/weir.h"

namespace weir {
namespace {

using testing::expect_error;
using namespace std::chrono_literals;

std::vector<int32_t> ints(const Tensor& t) { return {t.data<int32_t>().begin(), t.data<int32_t>().end()}; }

// Gives the local variables, the counters of epochs, their values.
void initialize(Graph& g, Session& session) {
  for (const std::any& item : g.collection("local_variables")) {
    session.run(std::any_cast<Variable>(item).initializer());
  }
}

TEST(Coordinator, ThrowsTheFirstErrorOfItsThreads) {
  train::Coordinator coordinator;
  coordinator.start("waits", [](train::Coordinator& c) { c.wait_for_stop(); });
  coordinator.start("fails", [](train::Coordinator&) { throw Error(Code::DataLoss, "torn"); });
  expect_error([&] { coordinator.join(); }, Code::DataLoss, "torn");
  EXPECT_TRUE(coordinator.should_stop());
}

TEST(Coordinator, TakesTheEndOfTheInputForAGoodReason) {
  train::Coordinator coordinator;
  coordinator.start("ends", [](train::Coordinator&) { throw Error(Code::OutOfRange, "end"); });
  coordinator.join();
  EXPECT_TRUE(coordinator.should_stop());
}

TEST(Coordinator, NamesThreadsThatDoNotStop) {
  train::Coordinator coordinator;
  std::stop_source release;
  coordinator.start("stubborn", [&](train::Coordinator& c) {
    while (!release.stop_requested()) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(c.should_stop());
  });
  coordinator.request_stop();
  expect_error([&] { coordinator.join(2ms); }, Code::DeadlineExceeded, "stubborn");
  release.request_stop();
  coordinator.join();
}

TEST(Coordinator, CanBeUsedAgain) {
  train::Coordinator coordinator;
  coordinator.request_stop();
  EXPECT_TRUE(coordinator.token().stop_requested());
  coordinator.clear_stop();
  EXPECT_FALSE(coordinator.wait_for_stop(1ms));
}

struct Input : ::testing::Test {
  Graph g;

  // Everything that an output gives until the input ends.
  std::vector<int32_t> all(const Output& batch) {
    Session session(g);
    initialize(g, session);
    train::Coordinator coordinator;
    auto threads = train::start_queue_runners(session, coordinator);
    std::vector<int32_t> values;
    try {
      for (;;) {
        for (int32_t value : ints(session.run(batch))) values.push_back(value);
      }
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::OutOfRange) << e.what();
    }
    coordinator.request_stop();
    coordinator.join();
    return values;
  }
};

TEST_F(Input, EpochsAreExactUnderManyThreads) {
  auto numbers = train::range_input_producer(g, 50, {.num_epochs = 6, .seed = 1});
  auto [many] =
      train::batch({numbers.dequeue()[0]}, {.batch_size = 7, .threads = 16, .allow_smaller_final_batch = true});
  std::map<int32_t, int> counts;
  for (int32_t value : all(many)) ++counts[value];
  EXPECT_EQ(counts.size(), 50u);
  EXPECT_TRUE(std::all_of(counts.begin(), counts.end(), [](const auto& entry) { return entry.second == 6; }));
}

TEST_F(Input, ShuffledBatchesHaveEveryElementOnce) {
  auto numbers = train::range_input_producer(g, 60, {.num_epochs = 1, .shuffle = false});
  auto [batch] = train::shuffle_batch({numbers.dequeue()[0]},
                                      {.batch_size = 10, .capacity = 30, .min_after_dequeue = 10, .seed = 2});
  std::vector<int32_t> values = all(batch);
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  std::sort(values.begin(), values.end());
  for (int32_t i = 0; i < 60; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], i);
}

TEST_F(Input, SlicesRowsOfSeveralTensors) {
  auto rows = train::slice_input_producer(g, {std::vector<int32_t>{1, 2, 3}, std::vector<int32_t>{10, 20, 30}},
                                          {.num_epochs = 1, .shuffle = false});
  auto [batch] = train::batch({rows[0] + rows[1]}, {.batch_size = 3});
  EXPECT_EQ(all(batch), (std::vector<int32_t>{11, 22, 33}));
}

TEST_F(Input, ARunnersErrorStopsTheCoordinator) {
  FifoQueue queue(g, {int32});
  Output index = g.placeholder(int32, {}, "never_fed");
  train::add_queue_runner(g, train::QueueRunner(queue, {queue.enqueue({index})}));
  Session session(g);
  train::Coordinator coordinator;
  auto threads = train::start_queue_runners(session, coordinator);
  expect_error([&] { session.run(queue.dequeue()[0]); }, Code::OutOfRange, "is closed");
  expect_error([&] { coordinator.join(); }, Code::InvalidArgument, "never_fed");
}

TEST_F(Input, ThreadsEndWithTheirObject) {
  auto numbers = train::range_input_producer(g, 5);
  Session session(g);
  train::Coordinator coordinator;
  {
    auto threads = train::start_queue_runners(session, coordinator);
    session.run(numbers.dequeue()[0]);
  }
  EXPECT_TRUE(coordinator.should_stop());
  expect_error([&] { session.run(numbers.enqueue({1})); }, Code::Cancelled, "is closed");
}

TEST_F(Input, RefusesWhatCannotBeBatched) {
  Output x = g.placeholder(int32, {kUnknown}, "x");
  expect_error([&] { train::batch({x}, {.batch_size = 2}); }, Code::InvalidArgument, "fully defined");
  expect_error([&] { train::shuffle_batch({g.constant(1)}, {.capacity = 5, .min_after_dequeue = 5}); },
               Code::InvalidArgument, "capacity 5 must be bigger than min_after_dequeue 5");
  expect_error([&] { train::limit_epochs(x, 0); }, Code::InvalidArgument, "num_epochs must be > 0 not 0.");
}

}  // namespace
}  // namespace weir
