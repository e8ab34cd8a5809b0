#include "weir/gradients.h"

#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"

namespace weir {
namespace {

using testing::expect_error;
using testing::expect_near;
using testing::interpret;

std::vector<std::string> names_after(const Graph& g, size_t first) {
  std::vector<std::string> names;
  std::vector<Operation> all = g.operations();
  for (size_t i = first; i < all.size(); ++i) names.push_back(all[i].name() + " " + all[i].type());
  return names;
}

Tensor floats(std::initializer_list<float> values) { return Tensor(std::vector<float>(values)); }

TEST(Gradients, NodesAndNamesAreTensorFlows) {
  Graph g;
  Output c = g.constant(floats({1, 2}), "c");
  Output z = c * c;
  Output w = g.constant(floats({3, 4}), "w");
  size_t first = g.operations().size();
  std::vector<Gradient> grads = gradients({z, c}, {c}, {.grad_ys = {Output(), w}});
  EXPECT_EQ(names_after(g, first),
            (std::vector<std::string>{"gradients/Shape Const", "gradients/grad_ys_0 Const", "gradients/Fill Fill",
                                      "gradients/grad_ys_1 Identity", "gradients/mul_grad/Mul Mul",
                                      "gradients/mul_grad/Mul_1 Mul", "gradients/AddN AddN"}));
  expect_near(interpret({grads[0].dense()})[0], floats({5, 8}), 1e-6);  // 2c + w
  EXPECT_EQ(grads[0].dense().op().attrs().get<std::vector<std::string>>("_class"),
            std::vector<std::string>{"loc:@gradients/grad_ys_1"});
}

TEST(Gradients, PathsAreAdded) {
  Graph g;
  Output x = g.placeholder(float32, {3}, "x");
  Output y = x * x + exp(x) - x;
  Gradient grad = gradients({y}, {x})[0];
  Tensor value = floats({0, 1, 2});
  expect_near(interpret({grad.dense()}, {{x, value}})[0], floats({0.f, 2 + std::exp(1.f) - 1, 4 + std::exp(2.f) - 1}),
              1e-5);
}

TEST(Gradients, AreNoneWithoutAPath) {
  Graph g;
  Output x = g.placeholder(float32, {3}, "x"), unrelated = g.placeholder(float32, {3}, "unrelated");
  Output count = g.placeholder(int32, {3}, "count");
  Output y = square(x) * cast(count, float32);
  std::vector<Gradient> grads = gradients({y}, {x, unrelated, count});
  EXPECT_FALSE(grads[0].none());
  EXPECT_TRUE(grads[1].none());
  EXPECT_TRUE(grads[2].none());
  expect_error([&] { grads[1].dense(); }, Code::FailedPrecondition, "no gradient");
  EXPECT_TRUE(gradients({stop_gradient(x)}, {x})[0].none());
}

TEST(Gradients, StopGradientsAreTreatedAsConstants) {
  Graph g;
  Output a = g.placeholder(float32, {}, "a");
  Output b = a * 2;
  std::vector<Gradient> grads = gradients({a + b}, {a, b}, {.stop_gradients = {a, b}});
  EXPECT_EQ(interpret({grads[0].dense(), grads[1].dense()}, {{a, Tensor(3.f)}})[0].scalar<float>(), 1);
  std::vector<Gradient> through = gradients({a + b}, {a, b});
  EXPECT_EQ(interpret({through[0].dense()}, {{a, Tensor(3.f)}})[0].scalar<float>(), 3);
}

TEST(Gradients, ReachAnXThatLiesOnTheWayToAnother) {
  Graph g;
  Output a = g.placeholder(float32, {}, "a");
  Output b = square(a), c = b * 3;
  std::vector<Gradient> grads = gradients({c}, {a, b, c});
  testing::Tensors values = interpret({grads[0].dense(), grads[1].dense(), grads[2].dense()}, {{a, Tensor(5.f)}});
  EXPECT_EQ(values[0].scalar<float>(), 30);
  EXPECT_EQ(values[1].scalar<float>(), 3);
  EXPECT_EQ(values[2].scalar<float>(), 1);
}

TEST(Gradients, OfGatherAreSparseAndAddByJoining) {
  Graph g;
  Output params = g.placeholder(float32, {4, 2}, "params");
  Output one = gather(params, {1, 3}), two = gather(params, {1});
  Output loss = reduce_sum(one) + reduce_sum(two * 10);
  Gradient grad = gradients({loss}, {params})[0];
  ASSERT_TRUE(grad.sparse());
  Tensor value = Tensor::zeros(float32, {4, 2});
  expect_near(interpret({grad.dense()}, {{params, value}})[0], Tensor::from<float>({0, 0, 11, 11, 0, 0, 1, 1}, {4, 2}),
              1e-6);
  EXPECT_EQ(interpret({grad.slices().indices}, {{params, value}})[0].elements(), 3);
}

TEST(Gradients, SparseAndDensePathsMeet) {
  Graph g;
  Output params = g.placeholder(float32, {3, 1}, "params");
  Output loss = reduce_sum(gather(params, {2})) + reduce_sum(square(params));
  Gradient grad = gradients({loss}, {params})[0];
  EXPECT_FALSE(grad.sparse());
  expect_near(interpret({grad.dense()}, {{params, Tensor::from<float>({1, 2, 3}, {3, 1})}})[0],
              Tensor::from<float>({2, 4, 7}, {3, 1}), 1e-6);
}

TEST(Gradients, OfAVariableCollectAllItsReads) {
  for (bool resource : {false, true}) {
    Graph g;
    AttrMap attrs{{"dtype", float32}, {"shape", Shape{2}}};
    Output handle = g.add({.op = resource ? "VarHandleOp" : "VariableV2", .name = "v", .attrs = attrs}).output();
    auto read = [&](const char* name) {
      return resource ? NodeBuilder("ReadVariableOp", name).input(handle).attr("dtype", float32).output()
                      : identity(handle, name);
    };
    Output first = read("first"), second = read("second");
    first.set_shape({2});
    second.set_shape({2});
    Output loss = reduce_sum(first * 2) + reduce_sum(second * 3);
    for (const Output& x : {handle, first}) {
      Gradient grad = gradients({loss}, {x})[0];
      ASSERT_FALSE(grad.none());
      expect_near(interpret({grad.dense()}, {{first, floats({0, 0})}, {second, floats({0, 0})}})[0], floats({5, 5}),
                  1e-6);
    }
  }
}

TEST(Gradients, NameTheNodeThatHasNone) {
  Graph g;
  Output x = g.placeholder(float32, {1, 2, 2, 4}, "x");
  Output y = NodeBuilder("LRNGrad", "response").input(x).input(x).input(x).output();
  expect_error([&] { gradients({y}, {x}); }, Code::NotFound,
               "No gradient defined for operation 'response' (op type: LRNGrad)");
}

TEST(Gradients, CarryTheForwardLine) {
  Graph g;
  Output x = g.placeholder(float32, {}, "x");
  Output y = square(x);
  Output grad = gradients({y}, {x})[0].dense();
  EXPECT_EQ(grad.op().line().line, y.op().line().line);
  EXPECT_EQ(g.operation("gradients/Fill").line().line, y.op().line().line + 1);
}

TEST(Gradients, RefuseGradYsThatDoNotFit) {
  Graph g;
  Output x = g.placeholder(float32, {2}, "x");
  Output y = square(x);
  expect_error(
      [&] {
        gradients({y}, {x}, {.grad_ys = {g.constant(floats({1, 2, 3}))}});
      },
      Code::InvalidArgument, "[3]");
  expect_error([&] { gradients({y}, {x}, {.grad_ys = {g.constant(Tensor(1.0))}}); }, Code::InvalidArgument, "double");
  expect_error([&] { gradients({y}, {x}, {.grad_ys = {x, x}}); }, Code::InvalidArgument, "2 grad_ys");
  expect_error([&] { gradients({}, {x}); }, Code::InvalidArgument, "at least one y");
  expect_error([&] { gradients({y}, {Output()}); }, Code::InvalidArgument, "xs[0] is empty");
}

TEST(Gradients, StandBesideTheForwardNodesWhenAsked) {
  Graph g;
  Output x = g.placeholder(float32, {}, "x");
  Output y = square(x, "y");
  Output grad = gradients({y}, {x}, {.colocate_with_ops = true})[0].dense();
  EXPECT_EQ(grad.op().attrs().get<std::vector<std::string>>("_class"), std::vector<std::string>{"loc:@y"});
}

// Libraries that look for what the gradient of a bias is made of step over one operation, as in TensorFlow's graphs.
TEST(Gradients, ABroadcastVariableGetsASumBehindAReshape) {
  Graph g;
  Output x = g.placeholder(float32, {40, 3}), b = g.placeholder(float32, {3});
  Operation gradient = gradients({tanh(x + b)}, {b})[0].dense().op();
  EXPECT_EQ(gradient.type(), "Reshape");
  EXPECT_EQ(gradient.input(0).op().type(), "Sum");
  EXPECT_EQ(gradient.input(0).op().input(0).op().type(), "TanhGrad");
}

}  // namespace
}  // namespace weir
