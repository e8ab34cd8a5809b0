#include <gtest/gtest.h>

#include <limits>

#include "ops/math/test_reference.h"
#include "weir/gradients.h"

namespace weir::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

void check_cast(const Tensor& from, const Tensor& to, bool truncate = false) {
  check_op({.op = "Cast",
            .inputs = {from},
            .attrs = {{"SrcT", from.dtype()}, {"DstT", to.dtype()}, {"Truncate", truncate}},
            .outputs = {to},
            .gradient = false});
}

const DType kNumbers[] = {float32, float64, float16, bfloat16, int8,   int16,     int32,
                          int64,   uint8,   uint16,  uint32,   uint64, complex64, complex128};

TEST(Cast, KeepsSmallNumbersBetweenAllTypes) {
  Tensor numbers = ramp({3, 5}, 0, 7), truths = ramp({2}, 0, 1);
  for (DType from : kNumbers) {
    for (DType to : kNumbers) check_cast(converted(numbers, from), converted(numbers, to));
    check_cast(converted(truths, from), converted(truths, boolean));
    check_cast(converted(truths, boolean), converted(truths, from));
  }
  check_cast(Tensor(std::vector<std::string>{"a"}), Tensor(std::vector<std::string>{"a"}));
}

TEST(Cast, ConvertsLongArraysOfNarrowFloats) {
  Tensor numbers = ramp({2040}, 0, 0.25);
  Tensor half = converted(numbers, float16);
  check_cast(half, converted(numbers, float64));
  check_cast(converted(numbers, float64), half);
}

// As TensorFlow 1.15.5 answered.
TEST(Cast, WhatDoesNotFitBecomesWhatTensorFlowMakesOfIt) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  const int64_t least64 = std::numeric_limits<int64_t>::min();
  check_cast(std::vector<float>{1.9f, -1.9f, 3e9f, -3e9f, kNan}, std::vector<int32_t>{1, -1, least, least, least});
  check_cast(std::vector<double>{1.9, -1.9, 3e9, -3e9, kNan}, std::vector<int32_t>{1, -1, least, least, least});
  check_cast(std::vector<float>{1.9f, 1e19f, kNan}, std::vector<int64_t>{1, least64, least64});
  check_cast(std::vector<float>{1.9f, 255.5f, 256, 300, -1}, std::vector<uint8_t>{1, 255, 0, 44, 255});
  check_cast(std::vector<float>{127.5f, 128, -129, 300}, std::vector<int8_t>{127, -128, 127, 44});
  check_cast(std::vector<float>{65535, 65536, -1}, std::vector<uint16_t>{65535, 0, 65535});
  check_cast(std::vector<int32_t>{0, 1, -2}, converted({Tensor::from<double>({0, 1, 1}, {3})}, boolean));
  check_cast(std::vector<float>{0, -0.f, 0.5f, kNan}, converted({Tensor::from<double>({0, 0, 1, 1}, {4})}, boolean));
  check_cast(std::vector<int64_t>{int64_t{1} << 33, -1, int64_t{1} << 31}, std::vector<int32_t>{0, -1, least});
}

TEST(Cast, RoundsUnlessItTruncates) {
  Tensor x = std::vector<float>{1.00390625f, 1.01171875f, 3.14159f};
  auto bits = [](std::vector<float> values) {
    std::vector<BFloat16> narrow;
    for (float v : values) narrow.push_back(BFloat16(v));
    return Tensor(narrow);
  };
  check_cast(x, bits({1.0f, 1.015625f, 3.140625f}));
  check_cast(x, bits({1.0f, 1.0078125f, 3.140625f}), true);
}

TEST(Cast, PassesGradientsBetweenContinuousTypesOnly) {
  check_op({.op = "Cast",
            .inputs = {{1.0, 2.0}},
            .attrs = {{"SrcT", float64}, {"DstT", float32}},
            .outputs = {{1.0, 2.0}},
            .gradient = false});
  Graph g;
  Output x = g.placeholder(float64, {2});
  EXPECT_EQ(gradients({cast(x, float32)}, {x})[0].dense().dtype(), float64);
  EXPECT_TRUE(gradients({cast(cast(x, int32), float32)}, {x})[0].none());
}

TEST(Select, ChoosesElementsRowsOrEverything) {
  In a = {{1, 2}, {3, 4}}, b = {{5, 6}, {7, 8}};
  check_op({.op = "Select", .inputs = {{{true, false}, {false, true}}, a, b}, .outputs = {{{1, 6}, {7, 4}}}});
  check_op({.op = "Select", .inputs = {{false, true}, a, b}, .outputs = {{{5, 6}, {3, 4}}}});
  check_op({.op = "Select", .inputs = {true, a, b}, .outputs = {{{1, 2}, {3, 4}}}});
  check_op(
      {.op = "Select", .inputs = {{true, false}, {"a", "b"}, {"c", "d"}}, .outputs = {{"a", "d"}}, .types = {string}});
  check_op({.op = "Select",
            .bad = {{.inputs = {{true, false, true}, a, b}, .message = "[3]", .type = float32},
                    {.inputs = {true, a, {1, 2}}, .message = "[2,2]", .type = float32},
                    {.inputs = {{{true}}, a, b}, .message = "[1,1]", .type = float32}}});
}

TEST(SelectV2, Broadcasts) {
  check_op({.op = "SelectV2", .inputs = {{{true}, {false}}, {1, 2, 3}, 9}, .outputs = {{{1, 2, 3}, {9, 9, 9}}}});
  check_op({.op = "SelectV2", .inputs = {{true, false}, {{1, 2}, {3, 4}}, {{5}, {6}}}, .outputs = {{{1, 5}, {3, 6}}}});
}

TEST(AddN, AddsTensorsOfOneShape) {
  check_op({.op = "AddN", .inputs = {{1, 2}, {3, 4}, {5, 6}}, .outputs = {{9, 12}}});
  check_op({.op = "AddN", .inputs = {{1, 2}}, .outputs = {{1, 2}}});
  check_op({.op = "AddN",
            .inputs = {{1, 2}, {3, 4}},
            .outputs = {{4, 6}},
            .bad = {{.inputs = {{1, 2}, {1, 2, 3}}, .message = "[3]"}}});
}

TEST(ClipByValue, TakesScalarAndTensorLimits) {
  check_op({.op = "ClipByValue", .inputs = {{1, 5, 9}, 2, 8}, .outputs = {{2, 5, 8}}});
  check_op({.op = "ClipByValue", .inputs = {{1, 5, 9}, {0, 6, 0}, 8}, .outputs = {{1, 6, 8}}});
}

}  // namespace
}  // namespace weir::testing
