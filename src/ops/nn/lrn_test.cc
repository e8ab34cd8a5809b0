#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"

namespace weir::testing {
namespace {

const AttrMap kAttrs = {{"depth_radius", int64_t{2}}, {"bias", 1.5f}, {"alpha", 0.3f}, {"beta", 0.75f}};

double norm(const Tensor& x, int64_t i, int64_t channels) {
  const int64_t c = i % channels;
  double sum = 0;
  for (int64_t k = std::max<int64_t>(0, c - 2); k <= std::min(channels - 1, c + 2); ++k)
    sum += std::pow(x.data<double>()[i - c + k], 2);
  return 1.5 + 0.3f * sum;
}

Tensor lrn(const Tensor& x) {
  Tensor y = x.copy();
  for (int64_t i = 0; i < x.elements(); ++i) y.mutable_data<double>()[i] *= std::pow(norm(x, i, x.shape()[3]), -0.75);
  return y;
}

TEST(LRN, MatchesItsFormula) {
  for (const Shape& shape :
       {Shape{2, 3, 2, 7}, Shape{1, 1, 1, 1}, Shape{1, 2, 2, 32}, Shape{0, 2, 2, 3}, Shape{1, 1, 3, 2}}) {
    check_op({.op = "LRN",
              .inputs = {scattered(shape, -2, 2)},
              .attrs = kAttrs,
              .reference = [](const Tensors& in) { return Tensors{lrn(in[0])}; },
              .gradient_tolerance = 2e-2});  // there is no kernel for double
  }
}

TEST(LRNGrad, MatchesItsFormula) {
  for (const Shape& shape : {Shape{2, 1, 2, 7}, Shape{1, 1, 1, 1}, Shape{1, 2, 2, 32}}) {
    const Tensor x = scattered(shape, -2, 2), y = lrn(x);
    check_op({.op = "LRNGrad",
              .inputs = {scattered(shape, -1, 1, 5), x, y},
              .attrs = kAttrs,
              .reference = [](const Tensors& in) {
                const int64_t channels = in[1].shape()[3];
                Tensor dx = zeros(in[1].shape());
                for (int64_t i = 0; i < dx.elements(); ++i) {
                  const int64_t c = i % channels;
                  double sum = 0;
                  for (int64_t k = std::max<int64_t>(0, c - 2); k <= std::min(channels - 1, c + 2); ++k) {
                    const int64_t j = i - c + k;
                    sum += in[0].data<double>()[j] * in[2].data<double>()[j] / norm(in[1], j, channels);
                  }
                  dx.mutable_data<double>()[i] = in[0].data<double>()[i] * std::pow(norm(in[1], i, channels), -0.75) -
                                                 2 * 0.3f * 0.75 * in[1].data<double>()[i] * sum;
                }
                return Tensors{dx};
              }});
  }
}

TEST(LRN, RejectsANegativeRadius) {
  check_op({.op = "LRN",
            .inputs = {zeros({1, 1, 1, 2})},
            .outputs = {zeros({1, 1, 1, 2})},
            .gradient = false,
            .bad = {{.inputs = {zeros({1, 1, 1, 2})}, .attrs = {{"depth_radius", int64_t{-1}}}, .message = "negative"},
                    {.inputs = {zeros({1, 2})}, .message = "rank 4"}}});
}

}  // namespace
}  // namespace weir::testing
