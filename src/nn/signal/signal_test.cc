#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"
#include "weir/signal_ops.h"

namespace weir {
namespace {

using namespace weir::testing;

TEST(Frame, CutsWithAndWithoutPadding) {
  Graph g;
  Session session(g);
  Output x = g.constant(converted(ramp({7}), float32));
  expect_near(session.run(signal::frame(x, 4, 2)), Tensor::from<float>({1, 2, 3, 4, 3, 4, 5, 6}, {2, 4}), 0);
  expect_near(session.run(signal::frame(x, 3, 3, {.pad_end = true, .pad_value = 9})),
              Tensor::from<float>({1, 2, 3, 4, 5, 6, 7, 9, 9}, {3, 3}), 0);
  Output fed = g.placeholder(float32, {kUnknown, 2});
  Output frames = signal::frame(fed, 2, 1, {.axis = 0});
  EXPECT_EQ(frames.shape(), (Shape{kUnknown, 2, 2}));
  expect_near(session.run(frames, {{fed, converted(ramp({3, 2}), float32)}}),
              Tensor::from<float>({1, 2, 3, 4, 3, 4, 5, 6}, {2, 2, 2}), 0);
  EXPECT_THROW(signal::frame(x, 0, 2), Error);
}

TEST(OverlapAndAdd, SumsWhatLiesOverEachOther) {
  Graph g;
  Session session(g);
  Output frames = g.constant(Tensor::from<float>({1, 2, 3, 10, 20, 30}, {2, 3}));
  expect_near(session.run(signal::overlap_and_add(frames, 2)), Tensor(std::vector<float>{1, 2, 13, 20, 30}), 0);
  expect_near(session.run(signal::overlap_and_add(frames, 3)), Tensor(std::vector<float>{1, 2, 3, 10, 20, 30}), 0);
}

TEST(Windows, AreKnownOrComputed) {
  Graph g;
  Session session(g);
  Output length = g.placeholder(int32, {});
  for (int n : {1, 4, 5, 16}) {
    for (bool periodic : {true, false}) {
      Tensor known = session.run(signal::hann_window(g, n, {.periodic = periodic}));
      expect_near(session.run(signal::hann_window(g, length, {.periodic = periodic}), {{length, Tensor(n)}}), known,
                  1e-6);
      EXPECT_EQ(known.shape(), Shape{n});
    }
  }
  expect_near(session.run(signal::hamming_window(g, 4)), Tensor(std::vector<float>{0.08f, 0.54f, 1, 0.54f}), 1e-6);
}

TEST(Stft, IsUndoneByItsInverseWithTheRightWindow) {
  Graph g;
  Session session(g);
  Tensor noise = converted(scattered({2, 640}), float32);
  Output x = g.constant(noise), window = signal::hann_window(g, 64);
  Output spectrum = signal::stft(x, 64, 16);
  EXPECT_EQ(spectrum.shape(), (Shape{2, 37, 33}));
  Output inverse = signal::inverse_stft_window(window, 64, 16);
  Output back = signal::inverse_stft(spectrum, 64, 16, {.window = inverse});
  Tensor result = session.run(back);
  ASSERT_EQ(result.shape(), (Shape{2, 640}));
  for (size_t i = 64; i < 576; ++i) EXPECT_NEAR(result.data<float>()[i], noise.data<float>()[i], 1e-5);
}

TEST(Dct, TypesTwoAndThreeUndoEachOther) {
  Graph g;
  Session session(g);
  Tensor x = converted(scattered({3, 7}), float32);
  Output y = signal::dct(g.constant(x), {.orthonormal = true});
  expect_near(session.run(signal::idct(y, {.orthonormal = true})), x, 1e-5);
  // By its definition: 2 sum x cos(pi k (2n + 1) / 2N).
  Tensor plain = session.run(signal::dct(g.constant(x)));
  for (int k = 0; k < 7; ++k) {
    double sum = 0;
    for (int n = 0; n < 7; ++n)
      sum += 2 * x.data<float>()[static_cast<size_t>(n)] * std::cos(M_PI * k * (2 * n + 1) / 14);
    EXPECT_NEAR(plain.data<float>()[static_cast<size_t>(k)], sum, 1e-5);
  }
  Tensor first = session.run(signal::dct(g.constant(x), {.type = 1}));
  expect_near(session.run(signal::idct(g.constant(first), {.type = 1}) / 12.0f), x, 1e-5);
  EXPECT_EQ(session.run(signal::dct(g.constant(x), {.n = 4})).shape(), (Shape{3, 4}));
  EXPECT_EQ(session.run(signal::dct(g.constant(x), {.n = 9})).shape(), (Shape{3, 9}));
}

TEST(Mel, TrianglesCoverTheBand) {
  Graph g;
  Session session(g);
  Tensor weights = session.run(signal::linear_to_mel_weight_matrix(g));
  ASSERT_EQ(weights.shape(), (Shape{129, 20}));
  float largest = 0;
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(weights.data<float>()[i], 0);
  for (float w : weights.data<float>()) {
    EXPECT_GE(w, 0);
    largest = std::max(largest, w);
  }
  EXPECT_GT(largest, 0.9f);
  EXPECT_LE(largest, 1);
  EXPECT_THROW(signal::linear_to_mel_weight_matrix(g, {.upper_edge_hertz = 5000}), Error);
  Output logs = g.constant(converted(scattered({2, 20}), float32));
  EXPECT_EQ(signal::mfccs_from_log_mel_spectrograms(logs).shape(), (Shape{2, 20}));
}

}  // namespace
}  // namespace weir
