#include "ops/math/arg_extremum.h"

#include <algorithm>

#include "base/errors.h"

namespace weir::ops {

void infer_arg_extremum(InferContext& c) {
  const Shape& x = c.input(0);
  c.require_scalar(1);
  c.require_min_rank(0, 1);
  if (!x.has_rank()) return;
  auto axis = c.value_as_ints(1);
  if (!axis) return c.set_output(0, Shape::unknown_dims(x.rank() - 1));
  int64_t a = axis->at(0);
  if (a < -x.rank() || a >= x.rank()) {
    throw invalid_argument("Expected dimension in the range [{}, {}), but got {}", -x.rank(), x.rank(), a);
  }
  int reduced = InferContext::normalise_axis(a, x.rank());
  if (x[reduced] == 0) throw invalid_argument("Reduction axis {} is empty in shape {}", a, x.str());
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) {
    if (d != reduced) shape.append(x[d]);
  }
  c.set_output(0, std::move(shape));
}

cpu::ReduceShape arg_shape(const KernelContext& c) {
  const Shape& x = c.shape(0);
  int64_t axis = c.dtype(1) == int32 ? c.scalar<int32_t>(1) : c.scalar<int64_t>(1);
  if (axis < 0) axis += x.rank();
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
