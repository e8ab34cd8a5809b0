#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

// Steps as a constant of a quantised type.
template <class T>
Output steps(Graph& g, const std::vector<T>& values, const Shape& shape, DType type) {
  return NodeBuilder("Bitcast").input(g.constant(Tensor::from<T>(values, shape))).attr("type", type).output();
}
Output bytes(Graph& g, const std::vector<uint8_t>& values, const Shape& shape) {
  return steps<uint8_t>(g, values, shape, DType::QUInt8);
}
Output signed_bytes(Graph& g, const std::vector<int8_t>& values, const Shape& shape) {
  return steps<int8_t>(g, values, shape, DType::QInt8);
}

template <class T>
std::vector<T> as(const Output& quantized, DType type) {
  const Tensor t = Session(quantized.graph()).run(NodeBuilder("Bitcast").input(quantized).attr("type", type).output());
  return {t.data<T>().begin(), t.data<T>().end()};
}
std::vector<int32_t> words(const Operation& op) { return as<int32_t>(op.output(0), int32); }
std::vector<uint8_t> octets(const Operation& op) { return as<uint8_t>(op.output(0), uint8); }

std::vector<float> range_of(const Operation& op) {
  Session session(op.graph());
  return {session.run(op.output(1)).scalar<float>(), session.run(op.output(2)).scalar<float>()};
}

void expect_invalid(const Operation& op, const char* message) {
  expect_error([&] { Session(op.graph()).run(op.output(1)); }, Code::InvalidArgument, message);
}

Operation pair_op(const char* name, const Output& x, const Output& y, float min = 0, float max = 255) {
  return NodeBuilder(name).input(x).input(y).input(min).input(max).input(0.0f).input(255.0f).build();
}

TEST(QuantizedMul, MultipliesStepsAndBroadcasts) {
  Graph g;
  const Operation op = pair_op("QuantizedMul", bytes(g, {1, 2, 3, 4}, {2, 2}), bytes(g, {10, 100}, {2}));
  EXPECT_EQ(words(op), (std::vector<int32_t>{10, 200, 30, 400}));
  EXPECT_FLOAT_EQ(range_of(op)[1], 2147483648.0f);
  expect_invalid(pair_op("QuantizedMul", bytes(g, {1}, {1}), bytes(g, {1}, {1}), 2, 2),
                 "max_x must be larger than min_x");
  expect_invalid(pair_op("QuantizedMul", bytes(g, {1, 2}, {2, 1}), bytes(g, {}, {0})), "at least 1 element");
}

TEST(QuantizedAdd, AddsNumbersNotSteps) {
  Graph g;
  const Operation op = pair_op("QuantizedAdd", bytes(g, {0, 255}, {2}), bytes(g, {10, 10}, {2}), -255, 255);
  const float step = range_of(op)[1] / 2147483648.0f;
  const auto sums = words(op);
  EXPECT_NEAR(static_cast<float>(sums[0]) * step, -245, 2);
  EXPECT_NEAR(static_cast<float>(sums[1]) * step, 265, 2);
  expect_error(
      [&] {
        pair_op("QuantizedAdd", bytes(g, {1, 2}, {2}), bytes(g, {1, 2, 3}, {3}));
      },
      Code::InvalidArgument, "");
}

TEST(QuantizedPools, TakeTheLargestAndTheMeanOfSteps) {
  Graph g;
  auto pool = [&](const char* name, const Output& x) {
    return NodeBuilder(name)
        .input(x)
        .input(-1.0f)
        .input(1.0f)
        .attr("ksize", std::vector<int64_t>{1, 2, 2, 1})
        .attr("strides", std::vector<int64_t>{1, 2, 2, 1})
        .attr("padding", "SAME")
        .build();
  };
  const Output x = bytes(g, {1, 2, 9, 4, 6, 200}, {1, 2, 3, 1});
  EXPECT_EQ(octets(pool("QuantizedMaxPool", x)), (std::vector<uint8_t>{6, 200}));
  EXPECT_EQ(octets(pool("QuantizedAvgPool", x)), (std::vector<uint8_t>{3, 104}));
  EXPECT_EQ(range_of(pool("QuantizedAvgPool", x)), (std::vector<float>{-1, 1}));
  expect_error(
      [&] {
        NodeBuilder("QuantizedMaxPool")
            .input(x)
            .input(g.constant(Tensor(std::vector<float>{1, 2})))
            .input(1.0f)
            .attr("ksize", std::vector<int64_t>{1, 1, 1, 1})
            .attr("strides", std::vector<int64_t>{1, 1, 1, 1})
            .attr("padding", "SAME")
            .build();
      },
      Code::InvalidArgument, "rank 0");
}

TEST(QuantizedLayout, RefusesAShapeOfAnotherSizeThatIsFed) {
  Graph g;
  Output sizes = g.placeholder(int32, Shape::unknown());
  Output octet = NodeBuilder("QuantizedReshape")
                     .input(bytes(g, {0, 255}, {2}))
                     .input(sizes)
                     .input(0.0f)
                     .input(1.0f)
                     .build()
                     .output(0);
  Output value = NodeBuilder("Bitcast").input(octet).attr("type", uint8).output();
  Session session(g);
  EXPECT_EQ(session.run(value, {{sizes, std::vector<int32_t>{-1}}}).elements(), 2);
  expect_error([&] { session.run(value, {{sizes, std::vector<int32_t>{1000}}}); }, Code::InvalidArgument, "1000");
}

TEST(QuantizedLayout, ReshapesAndJoinsInOneRange) {
  Graph g;
  const Output a = bytes(g, {0, 255}, {2, 1}), b = bytes(g, {0, 255}, {2, 1});
  EXPECT_EQ(octets(NodeBuilder("QuantizedReshape").input(a).input(In({-1})).input(0.0f).input(1.0f).build()),
            (std::vector<uint8_t>{0, 255}));
  auto joined = [&](int axis) {
    return NodeBuilder("QuantizedConcat")
        .input(axis)
        .input(InList{a, b})
        .input(InList{0.0f, 0.0f})
        .input(InList{255.0f, 51.0f})
        .build();
  };
  EXPECT_EQ(octets(joined(1)), (std::vector<uint8_t>{0, 0, 255, 51}));
  EXPECT_EQ(octets(joined(0)), (std::vector<uint8_t>{0, 255, 0, 51}));
  EXPECT_EQ(range_of(joined(0)), (std::vector<float>{0, 255}));
  expect_error([&] { joined(-1); }, Code::InvalidArgument, "range [0, 2), but got -1");
}

TEST(QuantizedResizeBilinear, WeighsNeighbours) {
  Graph g;
  auto resized = [&](const Output& x) {
    return NodeBuilder("QuantizedResizeBilinear").input(x).input(In({1, 4})).input(0.0f).input(1.0f).build();
  };
  EXPECT_EQ(octets(resized(bytes(g, {10, 20}, {1, 1, 2, 1}))), (std::vector<uint8_t>{10, 15, 20, 20}));
  EXPECT_EQ(words(resized(steps<int32_t>(g, {-2000000000, 2000000000}, {1, 1, 2, 1}, DType::QInt32))),
            (std::vector<int32_t>{-1999999999, 0, 2000000000, 2000000000}));
}

TEST(QuantizedNorms, UseGivenStatisticsOrTheirOwn) {
  Graph g;
  const Output x = bytes(g, {0, 255, 255, 0}, {1, 2, 1, 2});
  NodeBuilder norm("QuantizedBatchNormWithGlobalNormalization");
  for (const Output& each :
       {x, bytes(g, {0, 0}, {2}), bytes(g, {255, 255}, {2}), bytes(g, {0, 0}, {2}), bytes(g, {255, 255}, {2})}) {
    norm.input(each).input(0.0f).input(1.0f);
  }
  const Operation batch = norm.attr("out_type", DType::QInt32)
                              .attr("variance_epsilon", 0.0f)
                              .attr("scale_after_normalization", true)
                              .build();
  const auto values = words(batch);
  EXPECT_NEAR(static_cast<double>(values[1]) / 2048, 1, 0.01);
  EXPECT_NEAR(static_cast<double>(values[0]) / 2048, 0, 0.01);
  const Operation own = NodeBuilder("QuantizedInstanceNorm").input(x).input(0.0f).input(1.0f).build();
  EXPECT_EQ(octets(own), (std::vector<uint8_t>{0, 255, 255, 0}));
  EXPECT_NEAR(range_of(own)[1], 1, 1e-3);
  expect_invalid(NodeBuilder("QuantizedInstanceNorm").input(x).input(1.0f).input(1.0f).build(),
                 "input_min must be less");
}

// Steps are numbers: ranges are as wide as the steps are many.
struct FusedConv {
  Graph g;
  Output picture = bytes(g, {1, 2, 3, 4}, {1, 2, 2, 1}), filter = signed_bytes(g, {1, -2}, {1, 1, 1, 2});

  NodeBuilder with(const char* name, bool bias, bool frozen) {
    NodeBuilder b(name);
    b.input(picture).input(filter);
    if (bias) b.input(g.constant(Tensor(std::vector<float>{3, 4})));
    b.input(0.0f).input(255.0f).input(-127.0f).input(127.0f);
    if (frozen) b.input(0.0f).input(255.0f);
    return std::move(b.attr("strides", std::vector<int64_t>{1, 1, 1, 1}).attr("padding", "VALID"));
  }
};

TEST(QuantizedConv2DFused, AddsABiasCutsOffAndRequantizes) {
  FusedConv f;
  EXPECT_EQ(words(f.with("QuantizedConv2DPerChannel", false, false).build()),
            (std::vector<int32_t>{1, -2, 2, -4, 3, -6, 4, -8}));
  EXPECT_EQ(words(f.with("QuantizedConv2DAndRelu", false, false).build()),
            (std::vector<int32_t>{1, 0, 2, 0, 3, 0, 4, 0}));
  EXPECT_EQ(words(f.with("QuantizedConv2DWithBias", true, false).build()),
            (std::vector<int32_t>{4, 2, 5, 0, 6, -2, 7, -4}));
  EXPECT_EQ(words(f.with("QuantizedConv2DWithBiasAndRelu", true, false).build()),
            (std::vector<int32_t>{4, 2, 5, 0, 6, 0, 7, 0}));
  EXPECT_EQ(octets(f.with("QuantizedConv2DWithBiasAndReluAndRequantize", true, true).build()),
            (std::vector<uint8_t>{4, 2, 5, 0, 6, 0, 7, 0}));
  EXPECT_EQ(octets(f.with("QuantizedConv2DAndReluAndRequantize", false, true).build()),
            (std::vector<uint8_t>{1, 0, 2, 0, 3, 0, 4, 0}));
  EXPECT_EQ(as<int8_t>(f.with("QuantizedConv2DAndRequantize", false, true).build().output(0), int8),
            (std::vector<int8_t>{0, -1, 1, -2, 1, -3, 2, -4}));
  EXPECT_EQ(as<int8_t>(f.with("QuantizedConv2DWithBiasAndRequantize", true, true).build().output(0), int8),
            (std::vector<int8_t>{2, 1, 2, 0, 3, -1, 3, -2}));
  const Output summand = f.g.constant(Tensor::from<float>({1, 1, 1, 1, 1, 9, 1, 1}, {1, 2, 2, 2}));
  NodeBuilder sum("QuantizedConv2DWithBiasSumAndRelu");
  sum.input(f.picture).input(f.filter).input(f.g.constant(Tensor(std::vector<float>{3, 4})));
  sum.input(0.0f).input(255.0f).input(-127.0f).input(127.0f).input(summand);
  EXPECT_EQ(words(sum.attr("strides", std::vector<int64_t>{1, 1, 1, 1}).attr("padding", "VALID").build()),
            (std::vector<int32_t>{5, 3, 6, 1, 7, 7, 8, 0}));
  const std::vector<float> range = range_of(f.with("QuantizedConv2DWithBias", true, false).build());
  EXPECT_FLOAT_EQ(range[1], 2147483648.0f);
}

TEST(QuantizedConv2DFused, AddsQuantisedPicturesOfEitherSign) {
  FusedConv f;
  for (const char* name :
       {"QuantizedConv2DWithBiasSumAndReluAndRequantize", "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize"}) {
    for (bool is_signed : {false, true}) {
      NodeBuilder b(name);
      b.input(f.picture).input(f.filter).input(f.g.constant(Tensor(std::vector<float>{3, 4})));
      b.input(0.0f).input(255.0f).input(-127.0f).input(127.0f).input(0.0f).input(255.0f);
      b.input(is_signed ? signed_bytes(f.g, {1, 1, 1, 1, 1, 9, 1, -1}, {1, 2, 2, 2})
                        : bytes(f.g, {1, 1, 1, 1, 1, 9, 1, 1}, {1, 2, 2, 2}));
      b.input(0.0f).input(is_signed ? 127.0f : 255.0f);
      EXPECT_EQ(octets(b.attr("strides", std::vector<int64_t>{1, 1, 1, 1}).attr("padding", "VALID").build()),
                (std::vector<uint8_t>{5, 3, 6, 1, 7, 7, 8, 0}));
    }
  }
}

TEST(QuantizedConv2DFused, ChecksWhatItIsGiven) {
  FusedConv f;
  expect_error([&] { f.with("QuantizedConv2DWithBias", false, false).input(1.0f).build(); }, Code::InvalidArgument, "");
  NodeBuilder wrong("QuantizedConv2DPerChannel");
  wrong.input(f.picture).input(f.filter).input(0.0f).input(255.0f);
  wrong.input(f.g.constant(Tensor(std::vector<float>{1, 2, 3})))
      .input(f.g.constant(Tensor(std::vector<float>{1, 2, 3})));
  expect_error(
      [&] {
        wrong.attr("strides", std::vector<int64_t>{1, 1, 1, 1}).attr("padding", "VALID").build();
      },
      Code::InvalidArgument, "one for each of 2 channels");
  expect_error(
      [&] {
        f.with("QuantizedConv2DAndRelu", false, false).attr("padding_list", std::vector<int64_t>{1, 2}).build();
      },
      Code::InvalidArgument, "8 entries");
  EXPECT_EQ(words(f.with("QuantizedConv2DAndRelu", false, false)
                      .attr("padding_list", std::vector<int64_t>{0, 0, 1, 0, 0, 0, 0, 0})
                      .build())
                .size(),
            12u);
}

TEST(QuantizedDepthwiseConv2D, KeepsChannelsApart) {
  Graph g;
  const Output picture = bytes(g, {1, 2, 3, 4}, {1, 1, 2, 2}), filter = signed_bytes(g, {1, -2, 3, 4}, {1, 1, 2, 2});
  auto conv = [&](const char* name, bool bias, bool frozen) {
    NodeBuilder b(name);
    b.input(picture).input(filter);
    if (bias) b.input(g.constant(Tensor(std::vector<float>{1, 1, 1, 1})));
    b.input(0.0f).input(255.0f).input(-127.0f).input(127.0f);
    if (frozen) b.input(0.0f).input(255.0f);
    return b.attr("strides", std::vector<int64_t>{1, 1, 1, 1}).attr("padding", "SAME").build();
  };
  EXPECT_EQ(words(conv("QuantizedDepthwiseConv2D", false, false)), (std::vector<int32_t>{1, -2, 6, 8, 3, -6, 12, 16}));
  EXPECT_EQ(words(conv("QuantizedDepthwiseConv2DWithBias", true, false)),
            (std::vector<int32_t>{2, -1, 7, 9, 4, -5, 13, 17}));
  EXPECT_EQ(words(conv("QuantizedDepthwiseConv2DWithBiasAndRelu", true, false)),
            (std::vector<int32_t>{2, 0, 7, 9, 4, 0, 13, 17}));
  EXPECT_EQ(octets(conv("QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", true, true)),
            (std::vector<uint8_t>{2, 0, 7, 9, 4, 0, 13, 17}));
}

TEST(QuantizedMatMulWithBias, CountsFromEitherEndOfTheRange) {
  Graph g;
  const Output a = bytes(g, {1, 2, 3, 4}, {2, 2}), b = signed_bytes(g, {1, 0, 0, -1}, {2, 2});
  auto product = [&](const char* name, const char* mode, float min, bool frozen) {
    NodeBuilder n(name);
    n.input(a)
        .input(b)
        .input(g.constant(Tensor(std::vector<float>{10, 3})))
        .input(min)
        .input(min + 255)
        .input(-127.0f)
        .input(127.0f);
    if (frozen) n.input(0.0f).input(255.0f);
    return n.attr("input_quant_mode", mode).build();
  };
  EXPECT_EQ(words(product("QuantizedMatMulWithBias", "SCALED", 0, false)), (std::vector<int32_t>{11, 1, 13, -1}));
  // Every number of `a` is one less than its step.
  EXPECT_EQ(words(product("QuantizedMatMulWithBias", "MIN_FIRST", -1, false)), (std::vector<int32_t>{10, 2, 12, 0}));
  EXPECT_EQ(words(product("QuantizedMatMulWithBiasAndRelu", "SCALED", 0, false)), (std::vector<int32_t>{11, 1, 13, 0}));
  EXPECT_EQ(octets(product("QuantizedMatMulWithBiasAndReluAndRequantize", "SCALED", 0, true)),
            (std::vector<uint8_t>{11, 1, 13, 0}));
}

TEST(PerChannel, HasARangeForEachChannel) {
  Graph g;
  const Output x = steps<int32_t>(g, {1 << 30, 1 << 30, -(1 << 29), 0}, {1, 1, 2, 2}, DType::QInt32);
  const Output low = g.constant(Tensor(std::vector<float>{-2, -4})),
               high = g.constant(Tensor(std::vector<float>{2, 4}));
  const Operation range =
      NodeBuilder("RequantizationRangePerChannel").input(x).input(low).input(high).attr("clip_value_max", 1.5f).build();
  EXPECT_EQ(Session(g).run(range.output(0)).scalar<float>(), -1.5f);
  auto moved = [&](float min, DType type) {
    return NodeBuilder("RequantizePerChannel")
        .input(x)
        .input(low)
        .input(high)
        .input(min)
        .input(2.0f)
        .attr("out_type", type)
        .build();
  };
  EXPECT_EQ(octets(moved(0, DType::QUInt8)), (std::vector<uint8_t>{128, 255, 0, 0}));
  EXPECT_EQ(as<int8_t>(moved(-2, DType::QInt8).output(0), int8), (std::vector<int8_t>{64, 127, -32, 0}));
  expect_invalid(moved(0, DType::QInt8), "must be negative");
}

}  // namespace
}  // namespace weir
