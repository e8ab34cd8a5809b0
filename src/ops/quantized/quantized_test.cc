#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

TEST(FakeQuant, RoundsToLevelsThatHoldZero) {
  check_op({.op = "FakeQuantWithMinMaxArgs", .inputs = {{-2., -0.6, 0., 0.6, 2.}}, .attrs = {{"min", -1.0f}, {"max", 1.0f}, {"num_bits", 2}, {"narrow_range", true}},
            .outputs = {{-1., -1., 0., 1., 1.}}, .gradient = false,
            .bad = {{.inputs = {{1.}}, .attrs = {{"min", 2.0f}}, .message = "min has to be smaller"},
                    {.inputs = {{1.}}, .attrs = {{"num_bits", 17}}, .message = "between 2 and 16"}}});
  check_op({.op = "FakeQuantWithMinMaxArgsGradient", .inputs = {{1., 2., 3.}, {-9., 0., 9.}}, .outputs = {{0., 2., 0.}}});
  check_op({.op = "FakeQuantWithMinMaxVars", .inputs = {{-2., 0.6}, -1., 1.}, .attrs = {{"num_bits", 2}, {"narrow_range", true}},
            .outputs = {{-1., 1.}}, .gradient = false});
  check_op({.op = "FakeQuantWithMinMaxVarsGradient", .inputs = {{1., 2., 4.}, {-9., 0., 9.}, -1., 1.}, .attrs = {{"num_bits", 2}, {"narrow_range", true}},
            .outputs = {{0., 2., 0.}, 1., 4.}});
  check_op({.op = "FakeQuantWithMinMaxVarsPerChannel", .inputs = {{{-2., 5.}, {0.6, 1.}}, {-1., 0.}, {1., 0.}}, .attrs = {{"num_bits", 2}, {"narrow_range", true}},
            .outputs = {{{-1., 0.}, {1., 0.}}}, .gradient = false,
            .bad = {{.inputs = {{{1., 2.}}, {0.}, {1.}}, .message = "incorrect size"}}});
  check_op({.op = "FakeQuantWithMinMaxVarsPerChannelGradient", .inputs = {{{1., 2.}, {3., 4.}}, {{-9., 5.}, {0., 1.}}, {-1., 0.}, {1., 0.}},
            .attrs = {{"num_bits", 2}, {"narrow_range", true}}, .outputs = {{{0., 2.}, {3., 4.}}, {1., 0.}, {0., 0.}}});
}

TEST(QuantizeAndDequantize, KeepsZeroAndSaturates) {
  check_op({.op = "QuantizeAndDequantizeV2", .inputs = {{-2., 0., 0.4, 1.}, -1., 1.}, .attrs = {{"num_bits", 2}, {"range_given", true}, {"narrow_range", true}},
            .outputs = {{-1., 0., 0., 1.}}, .gradient = false, .bad = {{.inputs = {{1.}, 2., 1.}, .message = "Invalid range"}}});
  check_op({.op = "QuantizeAndDequantizeV3", .inputs = {{-2., 0., 0.4, 1.}, -1., 1., 2}, .attrs = {{"narrow_range", true}},
            .outputs = {{-1., 0., 0., 1.}}, .gradient = false, .bad = {{.inputs = {{1.}, -1., 1., 99}, .message = "num_bits"}}});
  check_op({.op = "QuantizeAndDequantize", .inputs = {{0., 0.4, 3.}}, .attrs = {{"num_bits", 2}, {"signed_input", false}}, .outputs = {{0., 0., 3.}}, .gradient = false});
}

TEST(QuantizeV2, ComesBackWithinAStepInEveryModeAndType) {
  const Tensor x = converted(scattered({20}, -2, 3), float32);
  for (DType type : {DType::QInt8, DType::QUInt8, DType::QInt16, DType::QUInt16, DType::QInt32}) {
    for (const char* mode : {"MIN_COMBINED", "MIN_FIRST", "SCALED"}) {
      const bool is_unsigned = type == DType::QUInt8 || type == DType::QUInt16;
      Graph g;
      Operation q = NodeBuilder("QuantizeV2").input(g.constant(x)).input(-2.0f).input(3.0f).attr("T", type).attr("mode", mode).build();
      Output back = NodeBuilder("Dequantize").input(q.output(0)).input(q.output(1)).input(q.output(2)).attr("mode", mode).output();
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
  Operation q = NodeBuilder("QuantizeV2").input(g.constant(x)).input(-4.0f).input(4.0f).attr("T", DType::QInt32).attr("mode", "MIN_FIRST").build();
  auto back = [](const Operation& op) {
    return NodeBuilder("Dequantize").input(op.output(0)).input(op.output(1)).input(op.output(2)).attr("mode", "MIN_FIRST").output();
  };
  auto node = [&](const char* name) { return NodeBuilder(name).input(q.output(0)).input(q.output(1)).input(q.output(2)); };
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

}  // namespace
}  // namespace weir
