#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "devices/cpu/conv_test_case.h"

namespace weir::cpu {
namespace {

TEST(Winograd, MatchesDoubleReference) {
  for (const ConvParams& p : layers()) Case<float>(p).check(10);
  for (int64_t k : {2, 4}) {
    Case<float>({.batch = 3, .in_h = 17, .in_w = 19, .in_c = 21, .k_h = k, .k_w = k, .out_c = 18}).check(10);
    Case<float>(same({.batch = 3, .in_h = 17, .in_w = 19, .in_c = 16, .k_h = k, .k_w = k, .out_c = 35})).check(10);
  }
  for (int64_t k : {3, 5}) {
    for (int64_t in_c : {16, 21, 64}) {
      for (int64_t out_c : {16, 35}) {
        ConvParams p = {.batch = 3, .in_h = 17, .in_w = 19, .in_c = in_c, .k_h = k, .k_w = k, .out_c = out_c};
        Case<float>(p).check(10);
        Case<float>(same(p)).check(10);
        p.pad_top = 1;
        p.pad_bottom = 4;
        p.pad_left = 7;
        Case<float>(p).check(10);
      }
    }
  }
}

// At a stride of two it takes stacks of pixels.
TEST(Winograd, MatchesDoubleReferenceAtAStrideOfTwo) {
  for (int64_t k : {3, 4, 5, 6, 7, 8}) {
    ConvParams p = {.batch = 4,
                    .in_h = 25,
                    .in_w = 28,
                    .in_c = k > 5 ? 3 : 9,
                    .k_h = k,
                    .k_w = k,
                    .out_c = 18,
                    .stride_h = 2,
                    .stride_w = 2};
    Case<float>(p).check(10);
    Case<float>(same(p)).check(10);
    p.pad_top = 3;
    p.pad_bottom = 1;
    p.pad_left = 9;
    Case<float>(p).check(10);
  }
}

// Where stacks begin with an even row or an odd one, filters have taps that are zero, of which nothing may be seen:
// with channels that are multiplied together or apart, near each other or far, and with the filter in slices.
TEST(Winograd, LeavesOutTapsThatAreZero) {
  for (int64_t k : {4, 5}) {
    for (auto [size, in_c, out_c] :
         {std::array<int64_t, 3>{14, 8, 24}, {16, 33, 20}, {11, 64, 66}, {8, 100, 44}, {15, 32, 40}}) {
      ConvParams p = same({.batch = 5,
                           .in_h = size,
                           .in_w = size + 2,
                           .in_c = in_c,
                           .k_h = k,
                           .k_w = k,
                           .out_c = out_c,
                           .stride_h = 2,
                           .stride_w = 2});
      Case<float>(p).check(20);
      p.pad_left += 1;
      p.pad_top += in_c % 2;
      Case<float>(p).check(20);
      p.pad_top = p.pad_bottom = p.pad_left = p.pad_right = 0;
      Case<float>(p).check(20);
    }
  }
}

// Sets of pixels that lie the dilation apart are images of their own.
TEST(Winograd, MatchesDoubleReferenceWithDilations) {
  for (auto [h, w, k] : {std::array<int64_t, 3>{2, 2, 3}, {3, 2, 3}, {1, 4, 3}, {2, 2, 2}, {2, 2, 5}}) {
    ConvParams p = {.batch = 2,
                    .in_h = 31,
                    .in_w = 26,
                    .in_c = 17,
                    .k_h = k,
                    .k_w = k,
                    .out_c = 16,
                    .dilation_h = h,
                    .dilation_w = w};
    Case<float>(p).check(10);
    Case<float>(same(p)).check(10);
    p.pad_top = 7;
    p.pad_left = 1;
    p.pad_right = 3;
    Case<float>(p).check(10);
  }
  const ConvParams p = same({.batch = 4,
                             .in_h = 28,
                             .in_w = 28,
                             .in_c = 16,
                             .k_h = 3,
                             .k_w = 3,
                             .out_c = 32,
                             .dilation_h = 2,
                             .dilation_w = 2});
  ConvParams plain = p;
  plain.winograd = false;
  EXPECT_NE(Case<float>(p).run(1).output, Case<float>(plain).run(1).output);
}

TEST(Winograd, IsChosenForFiltersOfFourAndFiveAtAStrideOfTwo) {
  for (int64_t k : {4, 5}) {
    const ConvParams p = same({.batch = 8,
                               .in_h = 28,
                               .in_w = 28,
                               .in_c = 16,
                               .k_h = k,
                               .k_w = k,
                               .out_c = 32,
                               .stride_h = 2,
                               .stride_w = 2});
    ConvParams plain = p;
    plain.winograd = false;
    EXPECT_NE(Case<float>(p).run(1).output, Case<float>(plain).run(1).output);
    const auto one = Case<float>(p).run(1), three = Case<float>(p).run(3);
    EXPECT_EQ(one.output, three.output);
    EXPECT_EQ(one.input_grad, three.input_grad);
    EXPECT_EQ(one.filter_grad, three.filter_grad);
  }
}

// First layers of few channels, whose transforms cost more than the products that they save.
TEST(Winograd, IsNotChosenForFiltersOfThreeAtAStrideOfTwoAndFewChannels) {
  const ConvParams p = same(
      {.batch = 2, .in_h = 64, .in_w = 64, .in_c = 3, .k_h = 3, .k_w = 3, .out_c = 32, .stride_h = 2, .stride_w = 2});
  ConvParams plain = p;
  plain.winograd = false;
  EXPECT_EQ(Case<float>(p).run(1).output, Case<float>(plain).run(1).output);
  EXPECT_EQ(Case<float>(p).run(1).filter_grad, Case<float>(plain).run(1).filter_grad);
}

// What the documentation promises: no error above 1e-4 of the largest value, at any scale of the data, with images as
// they are before (offset) and after normalisation.
void expect_small_errors(int64_t size, int64_t in_c, int64_t k, int64_t out_c, float scale, float offset,
                         int64_t stride = 1) {
  SCOPED_TRACE(testing::Message() << size << "x" << in_c << " filter " << k << "x" << out_c << " scale " << scale
                                  << " offset " << offset << " stride " << stride);
  Case<float> c(same({.batch = 4,
                      .in_h = size,
                      .in_w = size,
                      .in_c = in_c,
                      .k_h = k,
                      .k_w = k,
                      .out_c = out_c,
                      .stride_h = stride,
                      .stride_w = stride}));
  for (float& v : c.input) v = (v + offset) * scale;
  for (float& v : c.output_grad) v *= scale;
  std::vector<double> output, input_grad, filter_grad;
  c.reference(output, input_grad, filter_grad);
  const auto r = c.run(2);
  auto worst = [](const std::vector<float>& got, const std::vector<double>& expected) {
    double largest = 0, error = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      error = std::max(error, std::abs(got[i] - expected[i]));
    }
    return error / largest;
  };
  EXPECT_LT(worst(r.output, output), 1e-4);
  EXPECT_LT(worst(r.input_grad, input_grad), 1e-4);
  EXPECT_LT(worst(r.filter_grad, filter_grad), 1e-4);
}

TEST(Winograd, ErrorsStayBelowTheirBound) {
  for (int64_t k : {3, 5}) {
    for (auto [size, in_c, out_c] : {std::array<int64_t, 3>{12, 32, 32}, {13, 16, 37}, {17, 67, 16}}) {
      for (float scale : {1e-6f, 1e5f}) {
        for (float offset : {0.0f, 3.0f}) expect_small_errors(size, in_c, k, out_c, scale, offset);
      }
    }
  }
}

TEST(Winograd, ErrorsStayBelowTheirBoundAtAStrideOfTwo) {
  for (int64_t k : {4, 5, 7}) {
    for (float scale : {1e-6f, 1e5f}) {
      for (float offset : {0.0f, 3.0f}) expect_small_errors(26, k == 7 ? 3 : 16, k, 16, scale, offset, 2);
    }
  }
}

TEST(Winograd, ErrorsStayBelowTheirBoundWithManyChannels) { expect_small_errors(11, 127, 3, 133, 1.0f, 3.0f); }

TEST(Winograd, IsChosenForTheLayersItIsMadeFor) {
  const ConvParams p = same({.batch = 8, .in_h = 12, .in_w = 12, .in_c = 32, .k_h = 5, .k_w = 5, .out_c = 32});
  ConvParams plain = p;
  plain.winograd = false;
  EXPECT_NE(Case<float>(p).run(1).output, Case<float>(plain).run(1).output);
  EXPECT_EQ(Case<double>(p).run(1).output, Case<double>(plain).run(1).output);
}

}  // namespace
}  // namespace weir::cpu
