#include <gtest/gtest.h>

#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

Output push(const Output& list, const Output& tensor) {
  return NodeBuilder("TensorListPushBack").input(list).input(tensor).output();
}

Operation pop(Graph& g, const Output& list, const In& element_shape) {
  return NodeBuilder("TensorListPopBack")
      .graph(g)
      .input(list)
      .input(element_shape)
      .attr("element_dtype", float32)
      .build();
}

Output empty_list(Graph& g, DType dtype = float32) {
  return NodeBuilder("EmptyTensorList")
      .graph(g)
      .input(-1)
      .input(-1)
      .attr("element_dtype", dtype)
      .attr("shape_type", int32)
      .output();
}

Output length(const Output& list) { return NodeBuilder("TensorListLength").input(list).output(); }

std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::InvalidArgument) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(TensorList, GivesBackWhatWasPushedLast) {
  Graph g;
  Output x = g.placeholder(float32, {2});
  Output one = push(empty_list(g), x), two = push(one, x * 2);
  Operation last = pop(g, two, {2}), first = pop(g, last.output(0), -1);
  EXPECT_EQ(last.output(1).shape(), Shape({2}));
  EXPECT_FALSE(first.output(1).shape().has_rank());
  Session s(g);
  std::vector<Feed> feeds = {{x, std::vector<float>{1, 2}}};
  auto [a, b, n, left] = s.run({last.output(1), first.output(1), length(two), length(first.output(0))}, feeds);
  EXPECT_EQ(a.data<float>()[1], 4);
  EXPECT_EQ(b.data<float>()[1], 2);
  EXPECT_EQ(n.scalar<int32_t>(), 2);
  EXPECT_EQ(left.scalar<int32_t>(), 0);
  // The longer list is still what it was.
  EXPECT_EQ(s.run(pop(g, two, {2}).output(1), feeds).data<float>()[1], 4);
}

TEST(TensorList, StacksAndUnstacks) {
  Graph g;
  Output x = g.placeholder(float32, {3, 2});
  Output list = NodeBuilder("TensorListFromTensor").input(x).input(Tensor(std::vector<int32_t>{2})).output();
  auto stack = [&](int64_t count) {
    return NodeBuilder("TensorListStack")
        .input(list)
        .input(Tensor(std::vector<int32_t>{2}))
        .attr("element_dtype", float32)
        .attr("num_elements", count)
        .output();
  };
  EXPECT_EQ(stack(3).shape(), Shape({3, 2}));
  EXPECT_EQ(stack(-1).shape().str(), Shape({kUnknown, 2}).str());
  Session s(g);
  Tensor xs = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  for (int64_t count : {3, -1}) {
    Tensor result = s.run(stack(count), {{x, xs}});
    EXPECT_EQ(result.shape(), Shape({3, 2}));
    EXPECT_TRUE(std::equal(xs.data<float>().begin(), xs.data<float>().end(), result.data<float>().begin()));
  }
  EXPECT_NE(message_of([&] { s.run(stack(2), {{x, xs}}); }).find("expected a list with 2 elements"), std::string::npos);
}

TEST(TensorList, RefusesWhatItIsNot) {
  Graph g;
  Session s(g);
  EXPECT_NE(message_of([&] { s.run(pop(g, empty_list(g), -1).output(1)); }).find("empty list"), std::string::npos);
  EXPECT_NE(message_of([&] {
              s.run(pop(g, push(empty_list(g, int32), g.constant(1)), -1).output(1));
            }).find("a list of int32"),
            std::string::npos);
  EXPECT_NE(message_of([&] { s.run(empty_list(g)); }).find("cannot be fetched"), std::string::npos);
  Output fed = g.placeholder(DType::Variant, {});
  EXPECT_NE(message_of([&] { s.run(length(fed), {{fed, 1}}); }).find("cannot be fed"), std::string::npos);
}

}  // namespace
}  // namespace weir
