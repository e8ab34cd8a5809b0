#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/gradients.h"
#include "weir/ops.h"
#include "weir/session.h"
#include "weir/signal_ops.h"

namespace weir {
namespace {

using namespace weir::testing;

Tensor complexes(const std::vector<std::complex<double>>& values, const Shape& shape) {
  return Tensor::from<std::complex<double>>(values, shape);
}

TEST(Fft, TransformsInBothPrecisions) {
  const Tensor line = complexes({{1, 0}, {2, 0}, {0, 0}, {0, 1}}, {4});
  const Tensor wanted = complexes({{3, 1}, {0, -2}, {-1, -1}, {2, 2}}, {4});
  check_op({.op = "FFT",
            .inputs = {line},
            .outputs = {wanted},
            .type_attr = "Tcomplex",
            .bad = {{.inputs = {complexes({{1, 0}}, {})}, .message = "rank"}}});
  check_op({.op = "IFFT", .inputs = {wanted}, .outputs = {line}, .type_attr = "Tcomplex"});
  check_op({.op = "BatchFFT", .inputs = {line}, .outputs = {wanted}});
  check_op({.op = "BatchIFFT", .inputs = {wanted}, .outputs = {line}});
}

TEST(Fft, GoesOverTwoAndThreeDimensions) {
  const Tensor square = complexes({{1, 0}, {2, 0}, {3, 0}, {4, 0}}, {2, 2});
  const Tensor wanted = complexes({{10, 0}, {-2, 0}, {-4, 0}, {0, 0}}, {2, 2});
  for (const char* op : {"FFT2D", "BatchFFT2D"})
    check_op({.op = op, .inputs = {square}, .outputs = {wanted}, .type_attr = op[0] == 'F' ? "Tcomplex" : ""});
  for (const char* op : {"IFFT2D", "BatchIFFT2D"})
    check_op({.op = op, .inputs = {wanted}, .outputs = {square}, .type_attr = op[0] == 'I' ? "Tcomplex" : ""});
  const Tensor cube = complexes({{1, 0}, {2, 0}, {3, 0}, {4, 0}}, {1, 2, 2}), cube_wanted = wanted.reshaped({1, 2, 2});
  for (const char* op : {"FFT3D", "BatchFFT3D"})
    check_op({.op = op, .inputs = {cube}, .outputs = {cube_wanted}, .type_attr = op[0] == 'F' ? "Tcomplex" : ""});
  for (const char* op : {"IFFT3D", "BatchIFFT3D"})
    check_op({.op = op, .inputs = {cube_wanted}, .outputs = {cube}, .type_attr = op[0] == 'I' ? "Tcomplex" : ""});
}

TEST(Rfft, KeepsHalfAndCutsToTheLength) {
  const Tensor half = complexes({{10, 0}, {-2, 2}, {-2, 0}}, {3});
  check_op({.op = "RFFT",
            .inputs = {{1, 2, 3, 4, 9}, {4}},
            .outputs = {half},
            .bad = {{.inputs = {{1, 2}, {4}}, .message = "must have length of at least 4 but got: 2"},
                    {.inputs = {{1, 2}, {2, 2}}, .message = "fft_length must have shape [1]"}}});
  check_op({.op = "IRFFT", .inputs = {half, {4}}, .outputs = {{1, 2, 3, 4}}});
  check_op({.op = "RFFT2D",
            .inputs = {{{1, 2}, {3, 4}}, {2, 2}},
            .outputs = {complexes({{10, 0}, {-2, 0}, {-4, 0}, {0, 0}}, {2, 2})}});
  check_op({.op = "IRFFT2D",
            .inputs = {complexes({{10, 0}, {-2, 0}, {-4, 0}, {0, 0}}, {2, 2}), {2, 2}},
            .outputs = {{{1, 2}, {3, 4}}}});
  check_op({.op = "RFFT3D",
            .inputs = {{{{1, 2}, {3, 4}}}, {1, 2, 2}},
            .outputs = {complexes({{10, 0}, {-2, 0}, {-4, 0}, {0, 0}}, {1, 2, 2})}});
  check_op({.op = "IRFFT3D",
            .inputs = {complexes({{10, 0}, {-2, 0}, {-4, 0}, {0, 0}}, {1, 2, 2}), {1, 2, 2}},
            .outputs = {{{{1, 2}, {3, 4}}}}});
}

// The transform is linear, so the gradient of a weighted sum of it does not depend on x; numerically, by differences.
void check_real_gradient(const Shape& shape, int rank) {
  Graph g;
  Output x = g.placeholder(float32, shape);
  Output y = signal::rfft(x, rank);
  Output back = signal::irfft(y, rank, In(Shape(shape.dims().last(static_cast<size_t>(rank)))));
  Output loss = reduce_sum(square(real(y))) + 2 * reduce_sum(imag(y)) + reduce_sum(back * back * back);
  Output grad = gradients({loss}, {x})[0].dense();
  Session session(g);
  Tensor at = converted(scattered(shape), float32);
  const Tensor slope = session.run(grad, {{x, at}});
  for (int64_t i = 0; i < at.elements(); ++i) {
    Tensor more = at.copy(), less = at.copy();
    const float step = 1e-2f;
    more.mutable_data<float>()[i] += step;
    less.mutable_data<float>()[i] -= step;
    const float high = session.run(loss, {{x, more}}).scalar<float>(),
                low = session.run(loss, {{x, less}}).scalar<float>();
    EXPECT_NEAR(slope.data<float>()[static_cast<size_t>(i)], (high - low) / (2 * step), 2e-2);
  }
}

TEST(Rfft, HasTheGradientOfTheWholeSpectrum) {
  check_real_gradient({6}, 1);
  check_real_gradient({2, 5}, 1);
  check_real_gradient({4, 6}, 2);
  check_real_gradient({3, 5}, 2);
}

}  // namespace
}  // namespace weir
