// Barriers, staging areas and accumulators.

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/check_op.h"
#include "weir/weir.h"

namespace weir {
namespace {

using testing::expect_error;
using testing::expect_late;

struct Barriers : ::testing::Test {
  Graph g;
  Output handle = NodeBuilder("Barrier", "b")
                      .graph(g)
                      .attr("component_types", std::vector<DType>{float32, DType::String})
                      .attr("shapes", std::vector<Shape>{Shape{}, Shape{}})
                      .output();

  Operation insert(int64_t component, const std::vector<std::string>& keys, const In& values) {
    return NodeBuilder("BarrierInsertMany")
        .input(handle)
        .input(keys)
        .input(values)
        .attr("component_index", component)
        .build();
  }
  Operation take(int32_t count) {
    return NodeBuilder("BarrierTakeMany")
        .input(handle)
        .input(count)
        .attr("component_types", std::vector<DType>{float32, DType::String})
        .build();
  }
  Operation close(bool cancel) {
    return NodeBuilder("BarrierClose").input(handle).attr("cancel_pending_enqueues", cancel).build();
  }
};

TEST_F(Barriers, GiveWhatIsCompleteInTheOrderOfTheFirstComponent) {
  Operation all = take(2);
  Session session(g);
  session.run(insert(0, {"a", "b"}, std::vector<float>{1, 2}));
  session.run(insert(1, {"b"}, std::vector<std::string>{"y"}));
  session.run(insert(1, {"a"}, std::vector<std::string>{"x"}));
  auto [indices, keys, numbers, texts] = session.run({all.output(0), all.output(1), all.output(2), all.output(3)});
  EXPECT_EQ(indices.data<int64_t>()[0], std::numeric_limits<int64_t>::min());
  EXPECT_EQ(numbers.elements(), 2);
  for (size_t i = 0; i < 2; ++i) {
    const bool is_a = keys.data<std::string>()[i] == "a";
    EXPECT_EQ(numbers.data<float>()[i], is_a ? 1 : 2);
    EXPECT_EQ(texts.data<std::string>()[i], is_a ? "x" : "y");
  }
}

TEST_F(Barriers, EndWhoWaitsForWhatCannotComeAnyMore) {
  Operation one = take(1);
  Session session(g);
  session.run(insert(0, {"a"}, std::vector<float>{1}));
  session.run(close(false));
  expect_error([&] { session.run(insert(0, {"new"}, std::vector<float>{1})); }, Code::Cancelled, "brand new key: new");
  session.run(insert(1, {"a"}, std::vector<std::string>{"x"}));
  session.run(one);
  expect_error([&] { session.run(one); }, Code::OutOfRange, "is closed and has insufficient elements");
  expect_error([&] { session.run(close(false)); }, Code::Cancelled, "already closed");
}

TEST_F(Barriers, RefuseAComponentTwice) {
  Operation put = insert(0, {"a"}, std::vector<float>{1});
  Session session(g);
  session.run(put);
  expect_error([&] { session.run(put); }, Code::InvalidArgument, "already has a value for component 0");
}

struct Staging : ::testing::Test {
  Graph g;
  NodeBuilder node(std::string_view op) {
    return NodeBuilder(op)
        .graph(g)
        .attr("dtypes", std::vector<DType>{float32})
        .attr("shared_name", std::string("area"))
        .attr("capacity", int64_t{1});
  }
};

TEST_F(Staging, HoldsBackWhoPutsInMoreThanItHolds) {
  Operation put = node("Stage").input(InList{1.f}).build();
  Output get = node("Unstage").output(), size = node("StageSize").output();
  Session session(g);
  session.run(put);
  expect_late([&](std::chrono::milliseconds timeout) { session.run(put, {}, {.timeout = timeout}); }, "Stage");
  std::thread second([&] { session.run(put); });
  EXPECT_EQ(session.run(get).scalar<float>(), 1);
  second.join();
  EXPECT_EQ(session.run(size).scalar<int32_t>(), 1);
}

TEST_F(Staging, GivesTheValueOfAKeyWhenItComes) {
  Output key = g.placeholder(int64, {}, "key");
  Operation put = node("MapStage")
                      .input(key)
                      .input(std::vector<int32_t>{0})
                      .input(InList{7.f})
                      .attr("fake_dtypes", std::vector<DType>{float32})
                      .build();
  Output get = node("MapUnstage").input(key).input(std::vector<int32_t>{0}).output();
  Session session(g);
  std::thread taker([&] { EXPECT_EQ(session.run(get, {{key, int64_t{5}}}).scalar<float>(), 7); });
  session.run(put, {{key, int64_t{5}}});
  taker.join();
}

TEST(Accumulators, GiveTheMeanOfEnoughGradientsAndDropOldOnes) {
  Graph g;
  Output handle = NodeBuilder("ResourceConditionalAccumulator", "a")
                      .graph(g)
                      .attr("dtype", float32)
                      .attr("shape", Shape{2})
                      .output();
  Output step = g.placeholder(int64, {}, "step"), gradient = g.placeholder(float32, Shape::unknown(), "gradient");
  Operation apply = NodeBuilder("ResourceAccumulatorApplyGradient").input(handle).input(step).input(gradient).build();
  Output take = NodeBuilder("ResourceAccumulatorTakeGradient").input(handle).input(2).attr("dtype", float32).output();
  Output count = NodeBuilder("ResourceAccumulatorNumAccumulated").input(handle).output();
  Session session(g);
  std::thread taker([&] { EXPECT_EQ(session.run(take).data<float>()[1], 4); });
  session.run(apply, {{step, int64_t{0}}, {gradient, std::vector<float>{1, 3}}});
  session.run(apply, {{step, int64_t{0}}, {gradient, std::vector<float>{1, 5}}});
  taker.join();
  session.run(apply, {{step, int64_t{0}}, {gradient, std::vector<float>{1, 5}}});  // of an earlier step
  EXPECT_EQ(session.run(count).scalar<int32_t>(), 0);
  expect_error(
      [&] {
        session.run(apply, {{step, int64_t{1}}, {gradient, std::vector<float>{1, 2, 3}}});
      },
      Code::InvalidArgument, "Shape mismatch: expected [2], got [3]");
}

}  // namespace
}  // namespace weir
