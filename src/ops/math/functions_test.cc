#include <gtest/gtest.h>

#include <limits>

#include "ops/math/test_reference.h"
#include "weir/gradients.h"

namespace weir::testing {
namespace {

// Names and types of all nodes made after the first `skip`.
std::string nodes(const Graph& g, size_t skip) {
  std::string text;
  std::vector<Operation> all = g.operations();
  for (size_t i = skip; i < all.size(); ++i) text += all[i].name() + ":" + all[i].type() + " ";
  return text;
}

template <class Make>
std::string made(DType dtype, const Shape& shape, Make make) {
  Graph g;
  Output x = g.placeholder(dtype, shape, "x");
  make(x);
  return nodes(g, 1);
}

// The lists are those that TensorFlow 1.15.5 makes for the same Python lines.
TEST(Functions, MakeTheNodesOfTensorFlow) {
  Shape s{2, 3};
  EXPECT_EQ(made(float32, s, [](Output x) { x * 2; }), "mul/y:Const mul:Mul ");
  EXPECT_EQ(made(float32, s, [](Output x) { x + 1; }), "add/y:Const add:AddV2 ");
  EXPECT_EQ(made(float32, s, [](Output x) { 3 - x; }), "sub/x:Const sub:Sub ");
  EXPECT_EQ(made(float32, s, [](Output x) { x / 2; }), "truediv/y:Const truediv:RealDiv ");
  EXPECT_EQ(made(int32, s, [](Output x) { x / 2; }),
            "truediv/y:Const truediv/Cast:Cast truediv/Cast_1:Cast truediv:RealDiv ");
  EXPECT_EQ(made(float32, s, [](Output x) { -x; }), "Neg:Neg ");
  EXPECT_EQ(made(float32, s, [](Output x) { x < 2; }), "Less/y:Const Less:Less ");
  EXPECT_EQ(made(int32, s, [](Output x) { floordiv(x, 2); }), "floordiv/y:Const floordiv:FloorDiv ");
  EXPECT_EQ(made(int32, s, [](Output x) { div(x, 2); }), "div/y:Const div:FloorDiv ");
  EXPECT_EQ(made(float32, s, [](Output x) { add(x, 1); }), "Add/y:Const Add:Add ");
  EXPECT_EQ(made(float32, s, [](Output x) { pow(x, 2); }), "Pow/y:Const Pow:Pow ");
  EXPECT_EQ(made(float32, s, [](Output x) { reduce_mean(x); }), "Const:Const Mean:Mean ");
  EXPECT_EQ(made(float32, s, [](Output x) { reduce_sum(x, 1); }), "Sum/reduction_indices:Const Sum:Sum ");
  EXPECT_EQ(made(float32, s, [](Output x) { reduce_sum(x, {0, 1}, true, "s"); }), "s/reduction_indices:Const s:Sum ");
  EXPECT_EQ(made(float32, Shape::unknown(), [](Output x) { reduce_max(x); }),
            "Rank:Rank range/start:Const range/delta:Const range:Range Max:Max ");
  EXPECT_EQ(made(float32, s, [](Output x) { argmax(x, 1); }), "ArgMax/dimension:Const ArgMax:ArgMax ");
  EXPECT_EQ(made(float32, s, [](Output x) { matmul(x, x, {.transpose_b = true}); }), "MatMul:MatMul ");
  EXPECT_EQ(made(float32, {2, 3, 3}, [](Output x) { matmul(x, x); }), "MatMul:BatchMatMulV2 ");
  EXPECT_EQ(made(float32, s, [](Output x) { clip_by_value(x, 0, 1); }),
            "clip_by_value/Minimum/y:Const clip_by_value/Minimum:Minimum clip_by_value/y:Const clip_by_value:Maximum ");
  EXPECT_EQ(made(boolean, s, [](Output x) { logical_xor(x, x); }),
            "LogicalOr:LogicalOr LogicalAnd:LogicalAnd LogicalNot:LogicalNot LogicalXor:LogicalAnd ");
  EXPECT_EQ(made(int32, s, [](Output x) { round(x), cast(x, int32), add_n({x}), conj(x); }), "");
  EXPECT_EQ(made(string, s, [](Output x) { x + "a"; }), "add/y:Const add:Add ");
}

TEST(Functions, ClippingNamesItsNodesAsTensorFlowDoes) {
  EXPECT_EQ(made(float32, {2},
                 [](Output x) {
                   clip_by_global_norm({x, Output(), x}, 2);
                 }),
            "global_norm/L2Loss:L2Loss global_norm/L2Loss_1:L2Loss global_norm/stack:Pack global_norm/Const:Const "
            "global_norm/Sum:Sum global_norm/Const_1:Const global_norm/mul:Mul global_norm/global_norm:Sqrt "
            "clip_by_global_norm/truediv/x:Const clip_by_global_norm/truediv:RealDiv clip_by_global_norm/Const:Const "
            "clip_by_global_norm/truediv_1/y:Const clip_by_global_norm/truediv_1:RealDiv "
            "clip_by_global_norm/Minimum:Minimum clip_by_global_norm/mul/x:Const clip_by_global_norm/mul:Mul "
            "clip_by_global_norm/IsFinite:IsFinite clip_by_global_norm/Const_1:Const clip_by_global_norm/Select:Select "
            "clip_by_global_norm/mul_1:Mul clip_by_global_norm/clip_by_global_norm/_0:Identity "
            "clip_by_global_norm/mul_2:Mul clip_by_global_norm/clip_by_global_norm/_2:Identity ");
}

TEST(Functions, ClippingScalesToTheNorm) {
  Graph g;
  Output x = g.constant({3, 4}, float32), zero = g.constant({0, 0}, float32);
  auto [clipped, norm] = clip_by_global_norm({x, zero}, 1);
  auto values = interpret({clipped[0], clipped[1], norm, clip_by_norm(x, 2), clip_by_norm(zero, 2), clip_by_norm(x, 9),
                           clip_by_value(x, 0, 3.5), global_norm({x, x})});
  const std::vector<std::vector<float>> expected = {{0.6f, 0.8f}, {0, 0}, {5},       {1.2f, 1.6f},
                                                    {0, 0},       {3, 4}, {3, 3.5f}, {7.0710678f}};
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t k = 0; k < expected[i].size(); ++k) EXPECT_FLOAT_EQ(values[i].data<float>()[k], expected[i][k]) << i;
  }
  Output slope = gradients({clip_by_norm(zero, 2)}, {zero})[0].dense();
  EXPECT_EQ(interpret({slope})[0].data<float>()[0], 1.0f);
  auto [broken, infinite] = clip_by_global_norm({g.constant({std::numeric_limits<double>::infinity()}, float32)}, 1);
  EXPECT_TRUE(std::isnan(interpret({broken[0]})[0].data<float>()[0]));
}

TEST(Functions, LogSumExpNeitherOverflowsNorVanishes) {
  Graph g;
  Output x = g.constant({{1000, 1000}, {-1000, -1000}}, float64);
  Tensor y = interpret({reduce_logsumexp(x, {.axes = {1}})})[0];
  EXPECT_EQ(y.shape(), Shape{2});
  EXPECT_DOUBLE_EQ(y.data<double>()[0], 1000 + std::log(2.0));
  EXPECT_DOUBLE_EQ(y.data<double>()[1], -1000 + std::log(2.0));
}

TEST(Functions, ErrorsNameTheLineOfTheProgram) {
  Graph g;
  Output x = g.placeholder(float32, {2, 3}), y = g.placeholder(float32, {2, 3});
  expect_error([&] { matmul(x, y); }, Code::InvalidArgument, "functions_test.cc");
  expect_error([&] { x + g.placeholder(float32, {4}); }, Code::InvalidArgument, "functions_test.cc");
}

}  // namespace
}  // namespace weir::testing
