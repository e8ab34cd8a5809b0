#pragma once

#include <functional>

#include "tests/support/check_op.h"
#include "weir/ops.h"

// References of elementwise operations for check_op: a function of doubles, applied everywhere. Complex numbers of
// these tests are real.
namespace weir::testing {

inline double real_at(const Tensor& t, int64_t i) {
  const size_t at = static_cast<size_t>(i);
  if (t.dtype() == complex64) return t.data<std::complex<float>>()[at].real();
  if (t.dtype() == complex128) return t.data<std::complex<double>>()[at].real();
  if (t.dtype() == boolean) return t.data<bool>()[at];
  return t.data<double>()[at];
}

inline auto mapped(std::function<double(double)> f) {
  return [f](const Tensors& in) {
    Tensor y(float64, in[0].shape());
    for (int64_t i = 0; i < y.elements(); ++i) y.mutable_data<double>()[i] = f(real_at(in[0], i));
    return Tensors{y};
  };
}

// Element i of the broadcast of `t` to `shape`.
inline double broadcast_at(const Tensor& t, const Shape& shape, int64_t i) {
  int64_t at = 0, stride = 1;
  for (int d = 1; d <= t.shape().rank(); ++d) {
    int64_t position = i % shape[-d];
    i /= shape[-d];
    at += (t.shape()[-d] == 1 ? 0 : position) * stride;
    stride *= t.shape()[-d];
  }
  return real_at(t, at);
}

inline auto mapped(std::function<double(double, double)> f) {
  return [f](const Tensors& in) {
    Tensor y(float64, Shape::broadcast(in[0].shape(), in[1].shape()));
    for (int64_t i = 0; i < y.elements(); ++i) {
      y.mutable_data<double>()[i] = f(broadcast_at(in[0], y.shape(), i), broadcast_at(in[1], y.shape(), i));
    }
    return Tensors{y};
  };
}

}  // namespace weir::testing
