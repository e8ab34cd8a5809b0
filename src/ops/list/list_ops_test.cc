#include <gtest/gtest.h>

#include "ops/list/tensor_list.h"
#include "weir/control_flow.h"
#include "weir/gradients.h"
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

TEST(TensorList, HoldsNoMoreThanItMay) {
  Graph g;
  Output none = NodeBuilder("EmptyTensorList")
                    .graph(g)
                    .input(-1)
                    .input(1)
                    .attr("element_dtype", float32)
                    .attr("shape_type", int32)
                    .output();
  Output one = push(none, g.constant(1.f));
  Session s(g);
  EXPECT_EQ(s.run(length(one)).scalar<int32_t>(), 1);
  EXPECT_NE(message_of([&] {
              s.run(length(push(one, g.constant(2.f))));
            }).find("Tried to push item into a full list list size: 1 max_num_elements: 1"),
            std::string::npos);
  EXPECT_EQ(s.run(length(push(pop(g, one, -1).output(0), g.constant(2.f)))).scalar<int32_t>(), 1);
}

const Tensor kAnyShape(int32_t{-1});

Tensor ints(std::vector<int32_t> values) { return Tensor(values); }

Output reserve(Graph& g, const In& element_shape, const In& length, DType dtype = float32) {
  return NodeBuilder("TensorListReserve")
      .graph(g)
      .input(element_shape)
      .input(length)
      .attr("element_dtype", dtype)
      .attr("shape_type", int32)
      .output();
}

Output set_item(const Output& list, const In& index, const In& item) {
  return NodeBuilder("TensorListSetItem").input(list).input(index).input(item).output();
}

Output get_item(const Output& list, const In& index, const Tensor& element_shape, DType dtype = float32) {
  return NodeBuilder("TensorListGetItem")
      .input(list)
      .input(index)
      .input(element_shape)
      .attr("element_dtype", dtype)
      .output();
}

Output from_tensor(const Output& x) { return NodeBuilder("TensorListFromTensor").input(x).input(kAnyShape).output(); }

Output stack_of(const Output& list, const Tensor& element_shape) {
  return NodeBuilder("TensorListStack").input(list).input(element_shape).attr("element_dtype", float32).output();
}

Output gather(const Output& list, const In& indices, const Tensor& element_shape) {
  return NodeBuilder("TensorListGather")
      .input(list)
      .input(indices)
      .input(element_shape)
      .attr("element_dtype", float32)
      .output();
}

Output resize(const Output& list, const In& size) {
  return NodeBuilder("TensorListResize").input(list).input(size).output();
}

Operation concat_v2(const Output& list, const Tensor& element_shape, const In& leading) {
  return NodeBuilder("TensorListConcatV2")
      .input(list)
      .input(element_shape)
      .input(leading)
      .attr("element_dtype", float32)
      .build();
}

Output split(const Output& x, const In& lengths) {
  return NodeBuilder("TensorListSplit").input(x).input(kAnyShape).input(lengths).output();
}

std::vector<float> floats(const Tensor& t) { return {t.data<float>().begin(), t.data<float>().end()}; }

using Floats = std::vector<float>;

void refuses(const std::function<void()>& run, const std::string& part) {
  const std::string message = message_of(run);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

// Every length up to 40 has another arrangement of trees.
TEST(TensorListObject, KeepsEveryVersionOfEveryElement) {
  for (int64_t length = 1; length <= 40; ++length) {
    ops::ListPtr list = std::make_shared<ops::TensorList>(int64, Shape{}, length);
    std::vector<ops::ListPtr> versions;
    for (int64_t i = 0; i < length; ++i) {
      EXPECT_EQ(list->at(i), nullptr);
      versions.push_back(list = list->with(i, Tensor(i)));
    }
    for (int64_t i = 0; i < length; ++i) {
      for (int64_t j = 0; j < length; ++j) {
        const Tensor* element = versions[static_cast<size_t>(i)]->at(j);
        ASSERT_EQ(element != nullptr, j <= i);
        if (element) {
          ASSERT_EQ(element->scalar<int64_t>(), j);
        }
      }
    }
    ops::ListPtr shorter = list;
    for (int64_t i = length; i-- > 0; shorter = shorter->popped()) {
      ASSERT_EQ(shorter->at(i)->scalar<int64_t>(), i);
      ASSERT_EQ(shorter->at(0)->scalar<int64_t>(), 0);
    }
    EXPECT_EQ(shorter->length(), 0);
    for (int64_t size : {int64_t{0}, length / 3, length - 1, length + 1, length + 30, 5 * length, int64_t{1} << 31}) {
      ops::ListPtr resized = list->resized(size);
      ASSERT_EQ(resized->length(), size);
      for (int64_t i = 0; i < std::min(size, length); ++i) ASSERT_EQ(resized->at(i)->scalar<int64_t>(), i);
      if (size > length) {
        ASSERT_EQ(resized->at(length), nullptr);
      }
      int64_t visited = 0;
      resized->visit([&](int64_t i, const Tensor& element) {
        EXPECT_EQ(element.scalar<int64_t>(), i);
        ++visited;
      });
      ASSERT_EQ(visited, std::min(size, length));
    }
  }
}

TEST(TensorList, IsWrittenAndReadAtAnIndex) {
  Graph g;
  Output x = g.placeholder(float32, {2});
  Output empty = reserve(g, ints({2}), 3), one = set_item(empty, 1, x), two = set_item(one, 2, x * 2);
  Output again = set_item(two, 1, x * 3);
  Session s(g);
  std::vector<Feed> feeds = {{x, Floats{1, 2}}};
  EXPECT_EQ(floats(s.run(stack_of(two, ints({2})), feeds)), (Floats{0, 0, 1, 2, 2, 4}));
  EXPECT_EQ(floats(s.run(stack_of(again, ints({2})), feeds)), (Floats{0, 0, 3, 6, 2, 4}));
  EXPECT_EQ(floats(s.run(get_item(two, 1, ints({2})), feeds)), (Floats{1, 2}));
  EXPECT_EQ(floats(s.run(get_item(one, 2, kAnyShape), feeds)), (Floats{0, 0}));  // never written
  EXPECT_EQ(get_item(one, 2, ints({2})).shape(), Shape({2}));
  Output shape = NodeBuilder("TensorListElementShape").input(one).attr("shape_type", int64).output();
  EXPECT_EQ(s.run(shape, feeds).data<int64_t>()[0], 2);
}

TEST(TensorList, GathersAndScattersRows) {
  Graph g;
  Output x = g.placeholder(float32, {3, 2});
  auto scatter = [&](const char* op) { return NodeBuilder(op).input(x).input(ints({3, 0, 1})).input(ints({2})); };
  Output list = scatter("TensorListScatter").output(), longer = scatter("TensorListScatterV2").input(6).output();
  Output into = NodeBuilder("TensorListScatterIntoExistingList")
                    .input(from_tensor(x * 10))
                    .input(x)
                    .input(ints({2, 0, 2}))
                    .output();
  Session s(g);
  std::vector<Feed> feeds = {{x, Tensor::from<float>({1, 2, 3, 4, 5, 6}, {3, 2})}};
  EXPECT_EQ(floats(s.run(stack_of(list, ints({2})), feeds)), (Floats{3, 4, 5, 6, 0, 0, 1, 2}));
  EXPECT_EQ(s.run(length(longer), feeds).scalar<int32_t>(), 6);
  EXPECT_EQ(floats(s.run(gather(longer, ints({3, 5, 3}), kAnyShape), feeds)), (Floats{1, 2, 0, 0, 1, 2}));
  EXPECT_EQ(floats(s.run(stack_of(into, ints({2})), feeds)), (Floats{3, 4, 30, 40, 5, 6}));
}

TEST(TensorList, JoinsAndSplitsElementsOfDifferentLengths) {
  Graph g;
  Output x = g.placeholder(float32, {4, 1});
  Tensor lengths(std::vector<int64_t>{1, 0, 3});
  Output list = split(x, lengths);
  Operation joined = concat_v2(list, ints({-1, 1}), Tensor(std::vector<int64_t>{}));
  EXPECT_EQ(joined.output(0).shape().str(), Shape({kUnknown, 1}).str());
  Session s(g);
  std::vector<Feed> feeds = {{x, Tensor::from<float>({1, 2, 3, 4}, {4, 1})}};
  auto [values, counts] = s.run({joined.output(0), joined.output(1)}, feeds);
  EXPECT_EQ(floats(values), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(std::vector<int64_t>(counts.data<int64_t>().begin(), counts.data<int64_t>().end()),
            (std::vector<int64_t>{1, 0, 3}));
  // Elements that were never written have as many rows as they are said to have.
  Output partly = set_item(reserve(g, ints({-1, 1}), 3), 2, x);
  EXPECT_EQ(floats(s.run(concat_v2(partly, ints({-1, 1}), Tensor(std::vector<int64_t>{1, 1, 4})).output(0), feeds)),
            (Floats{0, 0, 1, 2, 3, 4}));
}

TEST(TensorList, RefusesBadIndicesSizesShapesAndTypes) {
  Graph g;
  Session s(g);
  Output n = g.placeholder(int32, {}), list = reserve(g, ints({2}), 3), x = g.constant(Tensor(Floats{1, 2}));
  Output any = reserve(g, kAnyShape, 3);
  auto run = [&](const Output& y, int32_t value = 0) { return [&s, y, n, value] { s.run(y, {{n, value}}); }; };
  for (int32_t index : {-1, 3, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
    refuses(run(get_item(list, n, ints({2})), index), "in a list with 3 elements");
    refuses(run(length(set_item(list, n, x)), index), "in a list with 3 elements");
    refuses(run(gather(list, reshape(n, {1}), ints({2})), index), "out of range");
  }
  refuses(run(length(reserve(g, ints({2}), n)), -1), "non negative");
  refuses(run(length(resize(list, n)), -5), "non-negative");
  refuses(run(get_item(any, 0, kAnyShape)), "uninitialized tensor");
  refuses(run(stack_of(any, kAnyShape)), "non-fully-defined element_shape");
  refuses(run(gather(any, ints({0}), kAnyShape)), "non-fully-defined element_shape");
  refuses(run(concat_v2(any, kAnyShape, Tensor(std::vector<int64_t>{})).output(0)), "not fully defined");
  refuses(run(length(set_item(list, 0, g.constant(1.f)))), "a tensor of shape [] is written into a list");
  refuses(run(length(push(list, g.constant(1.f)))), "a tensor of shape [] is written into a list");
  refuses(run(length(set_item(list, 0, g.constant(ints({1, 2}))))), "a list of float");
  refuses(run(get_item(list, 0, ints({3}))), "Incompatible element shapes");
  refuses(run(get_item(set_item(any, 0, x), 0, ints({3}))), "element 0 has shape [2]");
  refuses(run(get_item(list, 0, Tensor(7))), "a scalar must be -1");
  refuses(run(stack_of(set_item(set_item(any, 0, x), 1, g.constant(1.f)), kAnyShape)), "different shapes");
  Output rows = g.constant(Tensor::from<float>({1, 2, 3, 4}, {2, 2}));
  auto scatter = [&](const In& indices, const In& count) {
    return length(NodeBuilder("TensorListScatterV2").input(rows).input(indices).input(ints({2})).input(count).output());
  };
  refuses(run(scatter(ints({0, -1}), -1)), "non-negative");
  refuses(run(scatter(ints({0, 5}), 3)), "at index 5 in list with size 3");
  refuses(run(scatter(ints({0, 1}), n), -7), "num_elements >= -1");
  refuses([&] { scatter(ints({0, 1, 2}), -1); }, "scattered by 3 indices");
  refuses(run(length(split(rows, Tensor(std::vector<int64_t>{1, 2})))), "sum of lengths is 3");
  refuses(run(length(split(rows, Tensor(std::vector<int64_t>{-1, 3})))), "Invalid value in lengths: -1");
  Output sum = add_n({list, reserve(g, ints({2}), 4)});
  refuses(run(length(sum)), "3 and 4 elements");
}

TEST(TensorList, OfManyElementsTakesNoMemoryUntilTheyAreWritten) {
  Graph g;
  Session s(g);
  const int32_t most = std::numeric_limits<int32_t>::max();
  Output list = resize(set_item(reserve(g, ints({2}), most), most - 1, g.constant(Tensor(Floats{1, 2}))), most - 5);
  auto [n, item] = s.run({length(list), get_item(list, most - 6, ints({2}))});
  EXPECT_EQ(n.scalar<int32_t>(), most - 5);
  EXPECT_EQ(floats(item), (Floats{0, 0}));
  Output rows = g.placeholder(float32, {kUnknown, 0});
  try {
    s.run(length(from_tensor(rows)), {{rows, Tensor(float32, {int64_t{1} << 40, 0})}});
    FAIL() << "a list of 2^40 elements";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::ResourceExhausted) << e.what();
  }
}

Output grad(const Output& y, const Output& x) { return gradients({y}, {x})[0].dense(); }

// d/dx of sum(w * f(x)), with w different for every element of f(x).
Floats weighted_gradient(Graph& g, const Output& y, const Output& x, const Tensor& value, const Floats& weights) {
  Output w = g.constant(Tensor(weights));
  Output dx = grad(reduce_sum(reshape(y, {-1}) * w), x);
  return floats(Session(g).run(dx, {{x, value}}));
}

TEST(TensorListGradient, FlowsThroughEveryOperation) {
  Graph g;
  Output x = g.placeholder(float32, {3, 1});
  const Tensor value = Tensor::from<float>({1, 2, 3}, {3, 1});
  const Tensor one = ints({1}), none(std::vector<int64_t>{});
  Output list = from_tensor(x), item = g.constant(Tensor(Floats{7}));
  auto check = [&](const Output& y, const Floats& weights, const Floats& expected) {
    EXPECT_EQ(weighted_gradient(g, y, x, value, weights), expected);
  };
  check(stack_of(list, one), {1, 10, 100}, {1, 10, 100});
  check(stack_of(set_item(list, 1, item), one), {1, 10, 100}, {1, 0, 100});
  check(stack_of(set_item(list, 1, get_item(list, 0, one) * get_item(list, 2, one)), one), {1, 10, 100}, {31, 0, 110});
  check(gather(list, ints({2, 0, 2}), one), {1, 10, 100}, {10, 0, 101});
  check(stack_of(resize(list, 4), one), {1, 10, 100, 1000}, {1, 10, 100});
  check(stack_of(resize(list, 2), one), {1, 10}, {1, 10, 0});
  check(stack_of(push(list, item), one), {1, 10, 100, 1000}, {1, 10, 100});
  Operation last = pop(g, list, one);
  check(last.output(1), {5}, {0, 0, 5});
  check(stack_of(push(last.output(0), last.output(1) * 2), one), {1, 10, 100}, {1, 10, 200});
  Output into = NodeBuilder("TensorListScatterIntoExistingList")
                    .input(list)
                    .input(gather(list, ints({0, 2}), one) * 3)
                    .input(ints({1, 0}))
                    .output();
  check(stack_of(into, one), {1, 10, 100}, {30, 0, 103});
  Output scattered = NodeBuilder("TensorListScatterV2").input(x).input(ints({3, 0, 1})).input(one).input(5).output();
  check(stack_of(scattered, one), {1, 10, 100, 1000, 10000}, {1000, 1, 10});
  Output parts = split(x, Tensor(std::vector<int64_t>{2, 0, 1}));
  check(concat_v2(parts, ints({-1, 1}), none).output(0), {1, 10, 100}, {1, 10, 100});
  check(get_item(parts, 0, ints({-1, 1})), {1, 10}, {1, 10, 0});
}

// A running product: reads one list and writes another, which is what scan does.
TEST(TensorListGradient, FlowsThroughListsOfLoops) {
  using List = std::vector<Output>;
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 2}), n = reduce_sum(cast(shape(x) * g.constant(ints({1, 0})), int32));
  Output in = from_tensor(x);
  List y = while_loop([&](const List& v) { return less(v[0], n); },
                      [&](const List& v) -> List {
                        Output next = v[1] * get_item(in, v[0], ints({2}));
                        return {v[0] + 1, next, set_item(v[2], v[0], next)};
                      },
                      {0, g.constant(Tensor(Floats{1, 1})), reserve(g, ints({2}), n)});
  Output products = stack_of(y[2], ints({2}));
  Output dx = grad(reduce_sum(products), x);
  Session s(g);
  for (int round = 0; round < 2; ++round) {
    auto [p, d] = s.run({products, dx}, {{x, Tensor::from<float>({2, 1, 3, 5, 4, 2}, {3, 2})}});
    EXPECT_EQ(floats(p), (Floats{2, 1, 6, 5, 24, 10}));
    EXPECT_EQ(floats(d), (Floats{1 + 3 + 12, 1 + 5 + 10, 2 + 8, 1 + 2, 6, 5}));
  }
}

// Each iteration reads what an earlier one wrote, so that the list itself is a variable that gradients go through.
TEST(TensorListGradient, FlowsThroughElementsThatLaterIterationsRead) {
  using List = std::vector<Output>;
  Graph g;
  Output x = g.placeholder(float32, {});
  Output start = set_item(set_item(reserve(g, ints({}), 6), 0, x), 1, x * x);
  List y = while_loop([&](const List& v) { return less(v[0], 6); },
                      [&](const List& v) -> List {
                        auto at = [&](int32_t back) { return get_item(v[1], v[0] - back, ints({})); };
                        return {v[0] + 1, set_item(v[1], v[0], at(1) + at(2) * x)};
                      },
                      {2, start});
  // x, x^2, 2x^2, x^3 + 2x^2, ...: f5 = f4 + x f3, f4 = f3 + x f2, f3 = f2 + x f1, f2 = f1 + x f0.
  Output last = get_item(y[1], 5, ints({}));
  Output dx = grad(last, x);
  auto f = [](double v) {
    double a = v, b = v * v;
    for (int i = 2; i < 6; ++i) std::tie(a, b) = std::pair(b, b + a * v);
    return b;
  };
  auto [value, d] = Session(g).run({last, dx}, {{x, 1.5f}});
  EXPECT_NEAR(value.scalar<float>(), f(1.5), 1e-4);
  EXPECT_NEAR(d.scalar<float>(), (f(1.5 + 1e-5) - f(1.5 - 1e-5)) / 2e-5, 1e-3);
}

TEST(TensorListGradient, FlowsThroughBranches) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {2});
  Output list = from_tensor(x);
  Output chosen = cond(
      p, [&] { return set_item(list, 0, get_item(list, 1, ints({})) * 5); }, [&] { return list; });
  Output dx = grad(reduce_sum(stack_of(chosen, ints({})) * g.constant(Tensor(Floats{1, 10}))), x);
  Session s(g);
  EXPECT_EQ(floats(s.run(dx, {{p, true}, {x, Floats{1, 2}}})), (Floats{0, 15}));
  EXPECT_EQ(floats(s.run(dx, {{p, false}, {x, Floats{1, 2}}})), (Floats{1, 10}));
}

}  // namespace
}  // namespace weir
