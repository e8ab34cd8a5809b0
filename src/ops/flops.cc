#include "ops/flops.h"

#include <algorithm>
#include <cmath>

namespace weir::ops {
namespace {

double elements(const Shape& shape) { return shape.is_known() ? static_cast<double>(shape.elements()) : 1e3; }

// Of a filter [rows, columns, in, out]: the products that make one element of the output.
double taps(const Shape& filter) {
  const double out = filter.is_known() && filter.rank() > 0 ? static_cast<double>(filter[-1]) : 1;
  return elements(filter) / std::max(out, 1.0);
}

}  // namespace

double product_flops(std::span<const Shape* const> in, std::span<const Shape* const> out) {
  return 2 * std::sqrt(elements(*in[0]) * elements(*in[1]) * elements(*out[0]));  // (m k)(k n)(m n) = (m n k)^2
}

double batch_product_flops(std::span<const Shape* const> in, std::span<const Shape* const> out) {
  const Shape& x = *in[0];
  const double batch =
      x.is_known() && x.rank() > 2 ? elements(x) / static_cast<double>(std::max<int64_t>(x[-1] * x[-2], 1)) : 1;
  return product_flops(in, out) / std::sqrt(std::max(batch, 1.0));
}

double conv2d_flops(std::span<const Shape* const> in, std::span<const Shape* const> out) {
  return 2 * elements(*out[0]) * taps(*in[1]);
}

double conv2d_backprop_input_flops(std::span<const Shape* const> in, std::span<const Shape* const>) {
  return 2 * elements(*in[2]) * taps(*in[1]);
}

double conv2d_backprop_filter_flops(std::span<const Shape* const> in, std::span<const Shape* const> out) {
  return 2 * elements(*in[2]) * taps(*out[0]);
}

}  // namespace weir::ops
