#include <optional>

#include "graph/grad_context.h"
#include "weir/ops.h"

namespace weir {
namespace {

// Over which axes of the broadcast of x and y a gradient must be summed to get x's shape; nothing when only the run
// can tell.
std::optional<std::vector<int>> reduced_axes(const Shape& x, const Shape& y) {
  if (x == y && x.is_known()) return std::vector<int>();
  if (!x.has_rank() || !y.has_rank()) return std::nullopt;
  std::vector<int> axes;
  int rank = std::max(x.rank(), y.rank());
  for (int axis = 0; axis < rank; ++axis) {
    int in_x = axis - (rank - x.rank()), in_y = axis - (rank - y.rank());
    if (in_x < 0) {
      axes.push_back(axis);
      continue;
    }
    int64_t a = x[in_x], b = in_y < 0 ? 1 : y[in_y];
    if (b == 1 || (a != 1 && a != kUnknown)) continue;  // nothing stretches x here
    if (a == kUnknown || b == kUnknown) return std::nullopt;
    axes.push_back(axis);
  }
  return axes;
}

Output reduce_known(const Output& grad, const Output& x, const std::vector<int>& axes) {
  if (axes.empty()) return grad;
  Output sum = reduce_sum(grad, {.axes = axes});
  // Dimensions of size 1 come back. Where there are none to come back the Reshape changes nothing, and is in no plan; but
  // programs that look for what a gradient is made of (approximations of the Fisher matrix) step over one, as in
  // TensorFlow's graphs.
  return sum.shape().rank() == x.shape().rank() && !x.shape().is_known() ? sum : reshape(sum, shape(x));
}

}  // namespace

Output reduce_to_shape_of(const Output& grad, const Output& x) {
  if (auto axes = reduced_axes(x.shape(), grad.shape())) return reduce_known(grad, x, *axes);
  Output x_shape = shape(x);
  Output axes = broadcast_gradient_args(x_shape, shape(grad)).first;
  return reshape(reduce_sum(grad, {.axes = axes}), x_shape);
}

std::pair<Output, Output> reduce_broadcast(const Output& x_grad, const Output& x, const Output& y_grad,
                                           const Output& y) {
  auto x_axes = reduced_axes(x.shape(), y.shape()), y_axes = reduced_axes(y.shape(), x.shape());
  Output x_shape, y_shape, rx, ry;
  if ((x_grad && !x_axes) || (y_grad && !y_axes)) {
    x_shape = shape(x);
    y_shape = shape(y);
    std::tie(rx, ry) = broadcast_gradient_args(x_shape, y_shape);
  }
  auto reduce = [](const Output& grad, const Output& to, const auto& known, const Output& axes,
                   const Output& to_shape) {
    if (!grad) return grad;
    return known ? reduce_known(grad, to, *known) : reshape(reduce_sum(grad, {.axes = axes}), to_shape);
  };
  Output dx = reduce(x_grad, x, x_axes, rx, x_shape);
  return {dx, reduce(y_grad, y, y_axes, ry, y_shape)};
}

}  // namespace weir
