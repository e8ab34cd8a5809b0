#include "ops/math/arg_extremum.h"

#include <algorithm>

#include "base/errors.h"

namespace weir::ops {

namespace {

// The axis counted from the front; throws when it is not there or has nothing to choose from.
int checked_axis(const Shape& x, int64_t axis) {
  const int rank = x.rank();
  if (axis < -rank || axis >= rank) {
    throw invalid_argument("Expected dimension in the range [{}, {}), but got {}", -rank, rank, axis);
  }
  const int d = InferContext::normalise_axis(axis, rank);
  if (x[d] == 0) throw invalid_argument("Reduction axis {} is empty in shape {}", axis, x.str());
  return d;
}

}  // namespace

void infer_arg_extremum(InferContext& c) {
  const Shape& x = c.input(0);
  c.require_scalar(1);
  c.require_min_rank(0, 1);
  if (!x.has_rank()) return;
  auto axis = c.value_as_ints(1);
  if (!axis) return c.set_output(0, Shape::unknown_dims(x.rank() - 1));
  const int reduced = checked_axis(x, axis->at(0));
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) {
    if (d != reduced) shape.append(x[d]);
  }
  c.set_output(0, std::move(shape));
}

cpu::ReduceShape arg_shape(const KernelContext& c) {
  const Shape& x = c.shape(0);
  // The shape function need not have seen the axis: of a vector the result is a scalar whatever it is.
  const int axis = checked_axis(x, c.dtype(1) == int32 ? c.scalar<int32_t>(1) : c.scalar<int64_t>(1));
  cpu::ReduceShape s;
  for (int d = 0; d < x.rank(); ++d) (d < axis ? s.outer : d == axis ? s.reduced : s.inner) *= x[d];
  return s;
}

void store_indices(KernelContext& c, const int64_t* indices) {
  std::transform(indices, indices + c.output_elements(), c.output<int32_t>(),
                 [](int64_t i) { return static_cast<int32_t>(i); });
}

ArgState prepare_arg_extremum(PrepareContext& c) {
  bool is_int64 = c.node().type("output_type") == int64;
  if (!is_int64) c.set_scratch(static_cast<size_t>(std::max<int64_t>(c.output().elements(), 0)) * sizeof(int64_t));
  return {is_int64};
}

}  // namespace weir::ops
