#include "devices/cpu/conv.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "devices/cpu/conv_generic.h"
#include "devices/cpu/conv_test_case.h"

namespace weir::cpu {
namespace {

template <class T>
class ConvOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ConvOf, Types);

TYPED_TEST(ConvOf, MatchesDoubleReferenceOnOddShapes) {
  for (int64_t batch : {1, 3}) {
    for (int64_t in_c : {1, 3, 8, 17}) {
      for (int64_t out_c : {1, 5, 16, 33}) {
        Case<TypeParam>(same({.batch = batch, .in_h = 7, .in_w = 9, .in_c = in_c, .k_h = 3, .k_w = 5, .out_c = out_c}))
            .check();
        Case<TypeParam>({.batch = batch, .in_h = 7, .in_w = 9, .in_c = in_c, .k_h = 3, .k_w = 2, .out_c = out_c})
            .check();
      }
    }
  }
}

TYPED_TEST(ConvOf, MatchesDoubleReferenceForResultsOfFewChannels) {
  for (int64_t few : {1, 3, 4}) {
    for (int64_t stride : {1, 2}) {
      for (int64_t dilation : {1, 2}) {
        for (int64_t batch : {1, 2}) {
          ConvParams p = {.batch = batch, .in_h = 11, .in_w = 9, .in_c = few, .k_h = 5, .k_w = 3, .out_c = 40};
          p.stride_h = p.stride_w = stride;
          p.dilation_h = p.dilation_w = dilation;
          Case<TypeParam>(same(p)).check();
          p.pad_top = 6, p.pad_left = 1, p.pad_right = 3;
          Case<TypeParam>(p).check();
          std::swap(p.in_c, p.out_c);
          Case<TypeParam>(p).check();
          Case<TypeParam>(same(p)).check();
        }
      }
    }
  }
  // More rows than are multiplied at once, in the same bits on every number of threads.
  Case<TypeParam> large(same({.batch = 3, .in_h = 50, .in_w = 64, .in_c = 16, .k_h = 3, .k_w = 3, .out_c = 3}));
  large.check();
  const Epilogue<TypeParam> epilogue = {large.bias.data(), Activation::Relu6};
  const auto one = large.run(1, epilogue), three = large.run(3, epilogue);
  EXPECT_EQ(one.output, three.output);
  EXPECT_EQ(one.input_grad, three.input_grad);
  EXPECT_EQ(one.filter_grad, three.filter_grad);
}

// Whatever the method: products, patches, few channels, Winograd's in its three forms, taps.
TYPED_TEST(ConvOf, AppliesTheWholeEpilogueOnce) {
  const ConvParams pixels = {.batch = 2, .in_h = 9, .in_w = 10, .in_c = 40, .k_h = 1, .k_w = 1, .out_c = 35};
  ConvParams strided = pixels, dilated = pixels, taps = pixels;
  strided.stride_h = strided.stride_w = 2;
  taps.k_h = taps.k_w = 3;
  taps.in_h = taps.in_w = 26;
  dilated = taps;
  dilated.dilation_h = dilated.dilation_w = 2;
  ConvParams few = taps, stacked = taps, narrow = taps, patches = taps, deep = taps;
  few.out_c = 3;
  narrow.in_c = 5;
  stacked.stride_h = stacked.stride_w = 2;
  stacked.k_h = stacked.k_w = 7;
  patches.batch = 1;
  patches.in_h = patches.in_w = 6;
  deep.in_c = 200;
  deep.k_h = 4;
  for (const ConvParams& p : {pixels, strided, taps, dilated, few, stacked, narrow, patches, deep}) {
    const Case<TypeParam> c(same(p));
    const auto scale = random_values<TypeParam>(p.out_c, 5);
    const auto side = random_values<TypeParam>(static_cast<int64_t>(c.output_grad.size()), 6);
    std::vector<double> output, input_grad, filter_grad;
    c.reference(output, input_grad, filter_grad);
    for (bool scales : {true, false}) {
      for (bool adds : {true, false}) {
        for (auto activation : {Activation::None, Activation::Relu, Activation::Relu6}) {
          const Epilogue<TypeParam> epilogue = {.bias = c.bias.data(),
                                                .activation = activation,
                                                .scale = scales ? scale.data() : nullptr,
                                                .side = adds ? side.data() : nullptr};
          std::vector<double> expected = output;
          for (size_t i = 0; i < expected.size(); ++i) {
            const size_t channel = i % static_cast<size_t>(p.out_c);
            double& y = expected[i];
            y = y * (scales ? scale[channel] : 1) + c.bias[channel] + (adds ? side[i] : 0);
            if (activation != Activation::None) y = std::max(y, 0.0);
            if (activation == Activation::Relu6) y = std::min(y, 6.0);
          }
          const auto one = c.run(1, epilogue), three = c.run(3, epilogue);
          Case<TypeParam>::compare(one.output, expected, p.k_h * p.k_w * p.in_c, 10, "output");
          EXPECT_EQ(one.output, three.output);
        }
      }
    }
  }
}

TYPED_TEST(ConvOf, MatchesDoubleReferenceForFewPixelsAndStridedPixels) {
  for (int64_t in_c : {16, 40}) {
    for (int64_t stride : {1, 2, 3}) {
      ConvParams p = {.batch = 1, .in_h = 7, .in_w = 9, .in_c = in_c, .k_h = 3, .k_w = 3, .out_c = 24};
      p.stride_h = p.stride_w = stride;
      Case<TypeParam>(same(p)).check(10);
      p.dilation_h = 2, p.pad_bottom = 3, p.pad_left = 2;
      Case<TypeParam>(p).check();
      ConvParams pixels = {.batch = 3, .in_h = 15, .in_w = 16, .in_c = in_c, .k_h = 1, .k_w = 1, .out_c = 33};
      pixels.stride_h = stride, pixels.stride_w = 2;
      Case<TypeParam> strided(same(pixels));
      strided.check();
      const Epilogue<TypeParam> epilogue = {strided.bias.data(), Activation::Relu};
      const auto one = strided.run(1, epilogue), three = strided.run(3, epilogue);
      EXPECT_EQ(one.output, three.output);
      EXPECT_EQ(one.filter_grad, three.filter_grad);
      pixels.pad_top = 1, pixels.pad_right = 2;
      Case<TypeParam>(pixels).check();
    }
  }
}

TYPED_TEST(ConvOf, MatchesDoubleReferenceForStridesDilationsAndPads) {
  for (int64_t stride_h : {1, 2, 3}) {
    for (int64_t stride_w : {1, 2, 4}) {
      for (int64_t dilation_h : {1, 2, 3}) {
        for (int64_t dilation_w : {1, 2}) {
          for (int64_t k : {1, 2, 3, 5}) {
            ConvParams p = {.batch = 2,
                            .in_h = 13,
                            .in_w = 11,
                            .in_c = 3,
                            .k_h = k,
                            .k_w = 3,
                            .out_c = 7,
                            .stride_h = stride_h,
                            .stride_w = stride_w,
                            .dilation_h = dilation_h,
                            .dilation_w = dilation_w};
            Case<TypeParam>(p).check();
            Case<TypeParam>(same(p)).check();
            p.pad_top = 1;
            p.pad_bottom = 4;
            p.pad_left = 3;
            p.pad_right = 0;
            Case<TypeParam>(p).check();
          }
        }
      }
    }
  }
}

// The gradient of the filter takes single taps then, without the pixels for which they lie beyond the image, or changes
// the roles of image and output gradient.
TYPED_TEST(ConvOf, MatchesDoubleReferenceForStridesDilationsAndPadsOfManyChannels) {
  for (int64_t stride : {1, 2, 4}) {
    for (int64_t dilation : {1, 2, 5}) {
      for (int64_t pad : {0, 2, 9}) {
        Case<TypeParam>({.batch = 3,
                         .in_h = 9,
                         .in_w = 11,
                         .in_c = 133,
                         .k_h = 2,
                         .k_w = 3,
                         .out_c = 18,
                         .stride_h = 5 - stride,
                         .stride_w = stride,
                         .dilation_h = 1 + dilation % 2,
                         .dilation_w = dilation,
                         .pad_top = pad,
                         .pad_bottom = 1,
                         .pad_left = 0,
                         .pad_right = pad})
            .check();
      }
    }
  }
}

TYPED_TEST(ConvOf, MatchesDoubleReferenceForLayersOfModels) {
  for (ConvParams p : layers()) {
    p.winograd = false;
    Case<TypeParam>(p).check();
  }
}

// Single pixels, rows and channels, prime sizes, no images: whichever method is chosen.
TYPED_TEST(ConvOf, MatchesDoubleReferenceAtTheEdges) {
  for (int64_t k : {1, 3, 5}) {
    for (auto [batch, h, w, in_c, out_c] : {std::array<int64_t, 5>{1, 1, 1, 1, 1},
                                            {3, 1, 1, 17, 19},
                                            {2, 1, 31, 16, 16},
                                            {2, 29, 1, 16, 16},
                                            {0, 7, 7, 16, 16},
                                            {17, 2, 2, 16, 16},
                                            {5, 7, 11, 1, 13},
                                            {5, 13, 7, 23, 1},
                                            {7, 5, 3, 31, 37}}) {
      Case<TypeParam>(same({.batch = batch, .in_h = h, .in_w = w, .in_c = in_c, .k_h = k, .k_w = k, .out_c = out_c}))
          .check(10);
    }
  }
}

TYPED_TEST(ConvOf, IsAMatrixProductForSinglePixelsAndWholeImages) {
  Case<TypeParam>({.batch = 5, .in_h = 6, .in_w = 7, .in_c = 19, .k_h = 1, .k_w = 1, .out_c = 33}).check();
  Case<TypeParam>({.batch = 5, .in_h = 6, .in_w = 7, .in_c = 19, .k_h = 6, .k_w = 7, .out_c = 33}).check();
  Case<TypeParam>(
      {.batch = 5, .in_h = 6, .in_w = 7, .in_c = 19, .k_h = 1, .k_w = 1, .out_c = 33, .stride_h = 2, .stride_w = 2})
      .check();
}

// As convolutions over text are, with the filter as wide as a word's vector. Tap by tap the gradient of the input would
// be a thousand times the work, most of it on padding, which the scratch memory shows.
TYPED_TEST(ConvOf, TakesRowsForPixelsWhereTheFilterIsAsWideAsTheImage) {
  const ConvParams wide = {
      .batch = 5, .in_h = 9, .in_w = 40, .in_c = 2, .k_h = 3, .k_w = 40, .out_c = 6, .stride_w = 3};
  const ConvParams pixels = {.batch = 5, .in_h = 9, .in_w = 1, .in_c = 80, .k_h = 3, .k_w = 1, .out_c = 6};
  Case<TypeParam> by_rows(wide), by_pixels(pixels);
  by_rows.check();
  EXPECT_EQ(conv_backward_input_scratch_bytes<TypeParam>(wide, 2),
            conv_backward_input_scratch_bytes<TypeParam>(pixels, 2));
  EXPECT_EQ(by_rows.run(2).input_grad, by_pixels.run(2).input_grad);
  Case<TypeParam>({.batch = 2, .in_h = 9, .in_w = 7, .in_c = 2, .k_h = 3, .k_w = 7, .out_c = 6, .pad_left = 1}).check();
  Case<TypeParam>({.batch = 2, .in_h = 9, .in_w = 1, .in_c = 2, .k_h = 3, .k_w = 1, .out_c = 6, .stride_w = 2}).check();
}

TYPED_TEST(ConvOf, AcceptsPadsLargerThanTheFilter) {
  Case<TypeParam>({.batch = 2,
                   .in_h = 4,
                   .in_w = 3,
                   .in_c = 2,
                   .k_h = 2,
                   .k_w = 2,
                   .out_c = 3,
                   .stride_h = 2,
                   .pad_top = 5,
                   .pad_bottom = 4,
                   .pad_left = 6,
                   .pad_right = 7})
      .check();
}

TYPED_TEST(ConvOf, GivesZeroGradientsForAnEmptyOutput) {
  Case<TypeParam>({.batch = 2, .in_h = 2, .in_w = 9, .in_c = 3, .k_h = 3, .k_w = 3, .out_c = 4}).check();
  Case<TypeParam>(same({.batch = 0, .in_h = 9, .in_w = 9, .in_c = 3, .k_h = 3, .k_w = 3, .out_c = 4})).check();
}

TYPED_TEST(ConvOf, AppliesBiasAndActivationOnceAtTheEnd) {
  for (int64_t in_c : {3, 30, 1300}) {
    for (int64_t k : {1, 3}) {
      const Case<TypeParam> c(
          same({.batch = 4, .in_h = 12, .in_w = 13, .in_c = in_c, .k_h = k, .k_w = k, .out_c = 21}));
      const auto plain = c.run(2).output;
      for (auto activation : {Activation::None, Activation::Relu, Activation::Relu6}) {
        const auto out = c.run(2, {.bias = c.bias.data(), .activation = activation}).output;
        for (size_t i = 0; i < out.size(); ++i) {
          TypeParam expected = plain[i] + c.bias[i % 21];
          if (activation != Activation::None) expected = std::max<TypeParam>(expected, 0);
          if (activation == Activation::Relu6) expected = std::min<TypeParam>(expected, 6);
          ASSERT_NEAR(out[i], expected, 1e-5);
        }
      }
    }
  }
}

TYPED_TEST(ConvOf, GivesTheSameBitsForAnyNumberOfThreads) {
  auto equal = [](const std::vector<TypeParam>& x, const std::vector<TypeParam>& y) {
    return std::memcmp(x.data(), y.data(), x.size() * sizeof(TypeParam)) == 0;
  };
  for (const ConvParams& p : {same({.batch = 9, .in_h = 12, .in_w = 12, .in_c = 64, .k_h = 5, .k_w = 5, .out_c = 64}),
                              same({.batch = 20, .in_h = 28, .in_w = 28, .in_c = 1, .k_h = 5, .k_w = 5, .out_c = 32}),
                              same({.batch = 2,
                              .in_h = 30,
                              .in_w = 31,
                              .in_c = 5,
                              .k_h = 3,
                              .k_w = 3,
                              .out_c = 40,
                              .stride_h = 2,
                              .stride_w = 2}),
                              ConvParams{.batch = 6, .in_h = 9, .in_w = 9, .in_c = 30, .k_h = 1, .k_w = 1, .out_c = 50},
                              same({.batch = 33, .in_h = 4, .in_w = 4, .in_c = 12, .k_h = 3, .k_w = 3, .out_c = 20})}) {
    const Case<TypeParam> c(p);
    const auto one = c.run(1);
    for (int threads : {2, 4}) {
      const auto more = c.run(threads);
      EXPECT_TRUE(equal(one.output, more.output));
      EXPECT_TRUE(equal(one.input_grad, more.input_grad));
      EXPECT_TRUE(equal(one.filter_grad, more.filter_grad));
    }
  }
}

TYPED_TEST(ConvOf, GenericLoopsMatchDoubleReference) {
  ThreadPool pool(2);
  for (int64_t stride : {1, 2, 3}) {
    for (int64_t dilation : {1, 2}) {
      Case<TypeParam> c({.batch = 2,
                         .in_h = 9,
                         .in_w = 8,
                         .in_c = 3,
                         .k_h = 3,
                         .k_w = 2,
                         .out_c = 4,
                         .stride_h = stride,
                         .stride_w = 3 - dilation,
                         .dilation_h = dilation,
                         .pad_top = 2,
                         .pad_bottom = 1,
                         .pad_right = 3});
      std::vector<double> output, input_grad, filter_grad;
      c.reference(output, input_grad, filter_grad);
      std::vector<TypeParam> got(output.size());
      conv_forward_generic(pool, c.p, c.input.data(), c.filter.data(), got.data());
      c.compare(got, output, 100, 1, "output");
      got.resize(input_grad.size());
      conv_backward_input_generic(pool, c.p, c.filter.data(), c.output_grad.data(), got.data());
      c.compare(got, input_grad, 100, 1, "input_grad");
      got.resize(filter_grad.size());
      conv_backward_filter_generic(pool, c.p, c.input.data(), c.output_grad.data(), got.data());
      c.compare(got, filter_grad, 100, 1, "filter_grad");
    }
  }
}

}  // namespace
}  // namespace weir::cpu
