#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

TEST(FakeQuant, RoundsToLevelsThatHoldZero) {
  check_op({.op = "FakeQuantWithMinMaxArgs",
            .inputs = {{-2., -0.6, 0., 0.6, 2.}},
            .attrs = {{"min", -1.0f}, {"max", 1.0f}, {"num_bits", 2}, {"narrow_range", true}},
            .outputs = {{-1., -1., 0., 1., 1.}},
            .gradient = false,
            .bad = {{.inputs = {{1.}}, .attrs = {{"min", 2.0f}}, .message = "min has to be smaller"},
                    {.inputs = {{1.}}, .attrs = {{"num_bits", 17}}, .message = "between 2 and 16"}}});
  check_op(
      {.op = "FakeQuantWithMinMaxArgsGradient", .inputs = {{1., 2., 3.}, {-9., 0., 9.}}, .outputs = {{0., 2., 0.}}});
  check_op({.op = "FakeQuantWithMinMaxVars",
            .inputs = {{-2., 0.6}, -1., 1.},
            .attrs = {{"num_bits", 2}, {"narrow_range", true}},
            .outputs = {{-1., 1.}},
            .gradient = false});
  check_op({.op = "FakeQuantWithMinMaxVarsGradient",
            .inputs = {{1., 2., 4.}, {-9., 0., 9.}, -1., 1.},
            .attrs = {{"num_bits", 2}, {"narrow_range", true}},
            .outputs = {{0., 2., 0.}, 1., 4.}});
  check_op({.op = "FakeQuantWithMinMaxVarsPerChannel",
            .inputs = {{{-2., 5.}, {0.6, 1.}}, {-1., 0.}, {1., 0.}},
            .attrs = {{"num_bits", 2}, {"narrow_range", true}},
            .outputs = {{{-1., 0.}, {1., 0.}}},
            .gradient = false,
            .bad = {{.inputs = {{{1., 2.}}, {0.}, {1.}}, .message = "incorrect size"}}});
  check_op({.op = "FakeQuantWithMinMaxVarsPerChannelGradient",
            .inputs = {{{1., 2.}, {3., 4.}}, {{-9., 5.}, {0., 1.}}, {-1., 0.}, {1., 0.}},
            .attrs = {{"num_bits", 2}, {"narrow_range", true}},
            .outputs = {{{0., 2.}, {3., 4.}}, {1., 0.}, {0., 0.}}});
}

TEST(QuantizeAndDequantize, KeepsZeroAndSaturates) {
  check_op({.op = "QuantizeAndDequantizeV2",
            .inputs = {{-2., 0., 0.4, 1.}, -1., 1.},
            .attrs = {{"num_bits", 2}, {"range_given", true}, {"narrow_range", true}},
            .outputs = {{-1., 0., 0., 1.}},
            .gradient = false,
            .bad = {{.inputs = {{1.}, 2., 1.}, .message = "Invalid range"}}});
  check_op({.op = "QuantizeAndDequantizeV3",
            .inputs = {{-2., 0., 0.4, 1.}, -1., 1., 2},
            .attrs = {{"narrow_range", true}},
            .outputs = {{-1., 0., 0., 1.}},
            .gradient = false,
            .bad = {{.inputs = {{1.}, -1., 1., 99}, .message = "num_bits"}}});
  check_op({.op = "QuantizeAndDequantize",
            .inputs = {{0., 0.4, 3.}},
            .attrs = {{"num_bits", 2}, {"signed_input", false}},
            .outputs = {{0., 0., 3.}},
            .gradient = false});
}

TEST(QuantizeV2, ComesBackWithinAStepInEveryModeAndType) {
  const Tensor x = converted(scattered({20}, -2, 3), float32);
  for (DType type : {DType::QInt8, DType::QUInt8, DType::QInt16, DType::QUInt16, DType::QInt32}) {
    for (const char* mode : {"MIN_COMBINED", "MIN_FIRST", "SCALED"}) {
      const bool is_unsigned = type == DType::QUInt8 || type == DType::QUInt16;
      Graph g;
      Operation q = NodeBuilder("QuantizeV2")
                        .input(g.constant(x))
                        .input(-2.0f)
                        .input(3.0f)
                        .attr("T", type)
                        .attr("mode", mode)
                        .build();
      Output back = NodeBuilder("Dequantize")
                        .input(q.output(0))
                        .input(q.output(1))
                        .input(q.output(2))
                        .attr("mode", mode)
                        .output();
      const Tensor y = Session(g).run(back);
      for (size_t i = 0; i < 20; ++i) {
        const float wanted = is_unsigned && mode[0] == 'S' ? std::max(0.0f, x.data<float>()[i]) : x.data<float>()[i];
        EXPECT_NEAR(y.data<float>()[i], wanted, 0.03) << mode << static_cast<int>(type);
      }
    }
  }
}

TEST(Requantize, MovesNumbersIntoAnotherRange) {
  Graph g;
  const Tensor x(std::vector<float>{-1.5f, 0, 0.5f, 1.75f});
  Operation q = NodeBuilder("QuantizeV2")
                    .input(g.constant(x))
                    .input(-4.0f)
                    .input(4.0f)
                    .attr("T", DType::QInt32)
                    .attr("mode", "MIN_FIRST")
                    .build();
  auto back = [](const Operation& op) {
    return NodeBuilder("Dequantize")
        .input(op.output(0))
        .input(op.output(1))
        .input(op.output(2))
        .attr("mode", "MIN_FIRST")
        .output();
  };
  auto node = [&](const char* name) {
    return NodeBuilder(name).input(q.output(0)).input(q.output(1)).input(q.output(2));
  };
  Session session(g);
  for (DType to : {DType::QInt8, DType::QUInt8}) {
    expect_near(session.run(back(node("Requantize").input(-2.0f).input(2.0f).attr("out_type", to).build())), x, 0.02);
    expect_near(session.run(back(node("QuantizeDownAndShrinkRange").attr("out_type", to).build())), x, 0.02);
  }
  Operation used = node("RequantizationRange").build();
  EXPECT_NEAR(session.run(used.output(0)).scalar<float>(), -1.5f, 1e-3);
  EXPECT_NEAR(session.run(used.output(1)).scalar<float>(), 1.75f, 1e-3);
  Operation wrong = node("Requantize").input(1.0f).input(2.0f).attr("out_type", DType::QInt8).build();
  expect_error([&] { session.run(wrong.output(0)); }, Code::InvalidArgument, "requested_output_min must be <= 0");
}

// Quantised inputs of an operation: the tensor, and the ends of its range.
struct Quantized {
  Output value, min, max;
  Quantized(Graph& g, const Tensor& x, float low, float high) {
    Operation q = NodeBuilder("QuantizeV2")
                      .input(g.constant(x))
                      .input(low)
                      .input(high)
                      .attr("T", DType::QUInt8)
                      .attr("mode", "MIN_FIRST")
                      .build();
    value = q.output(0);
    min = q.output(1);
    max = q.output(2);
  }
};

Tensor as_floats(const Operation& op) {
  Output back = NodeBuilder("Dequantize")
                    .input(op.output(0))
                    .input(op.output(1))
                    .input(op.output(2))
                    .attr("mode", "MIN_FIRST")
                    .output();
  return Session(op.graph()).run(back);
}

TEST(QuantizedProducts, AreNearThoseOfTheNumbers) {
  Graph g;
  const Quantized a(g, Tensor::from<float>({1, -2, 0.5f, 3}, {2, 2}), -4, 4),
      b(g, Tensor::from<float>({2, 0, 1, -1}, {2, 2}), -2, 2);
  auto product = [&](const char* op) {
    return NodeBuilder(op).input(a.value).input(b.value).input(a.min).input(a.max).input(b.min).input(b.max);
  };
  expect_near(as_floats(product("QuantizedMatMul").build()), Tensor::from<float>({0, 2, 4, -3}, {2, 2}), 0.1);
  expect_near(as_floats(product("QuantizedMatMul").attr("transpose_b", true).build()),
              Tensor::from<float>({2, 3, 1, -2.5f}, {2, 2}), 0.1);
  const Quantized picture(g, Tensor::from<float>({1, 2, 3, 4}, {1, 2, 2, 1}), 0, 4),
      taps(g, Tensor::from<float>({1, 1}, {1, 2, 1, 1}), -1, 1);
  Operation conv = NodeBuilder("QuantizedConv2D")
                       .input(picture.value)
                       .input(taps.value)
                       .input(picture.min)
                       .input(picture.max)
                       .input(taps.min)
                       .input(taps.max)
                       .attr("strides", std::vector<int64_t>{1, 1, 1, 1})
                       .attr("padding", "SAME")
                       .build();
  expect_near(as_floats(conv), Tensor::from<float>({3, 2, 7, 4}, {1, 2, 2, 1}), 0.1);
  const Quantized bias(g, Tensor(std::vector<float>{1, -1}), -1, 1);
  Operation sum = NodeBuilder("QuantizedBiasAdd")
                      .input(a.value)
                      .input(bias.value)
                      .input(a.min)
                      .input(a.max)
                      .input(bias.min)
                      .input(bias.max)
                      .attr("out_type", DType::QInt32)
                      .build();
  expect_near(as_floats(sum), Tensor::from<float>({2, -3, 1.5f, 2}, {2, 2}), 0.1);
}

TEST(QuantizedRelu, CutsOffBelowZeroAndAboveALimit) {
  Graph g;
  const Quantized x(g, Tensor(std::vector<float>{-2, 1, 3, 9}), -10, 10);
  expect_near(as_floats(NodeBuilder("QuantizedRelu").input(x.value).input(x.min).input(x.max).build()),
              Tensor(std::vector<float>{0, 1, 3, 9}), 0.1);
  expect_near(as_floats(NodeBuilder("QuantizedRelu6").input(x.value).input(x.min).input(x.max).build()),
              Tensor(std::vector<float>{0, 1, 3, 6}), 0.1);
  expect_near(as_floats(NodeBuilder("QuantizedReluX").input(x.value).input(2.0f).input(x.min).input(x.max).build()),
              Tensor(std::vector<float>{0, 1, 2, 2}), 0.1);
}

}  // namespace
}  // namespace weir
