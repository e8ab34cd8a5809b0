#include "ops/math/cumulate.h"

#include "base/errors.h"

namespace weir::ops {

void infer_cumulate(InferContext& c) {
  if (c.input(1).has_rank() && c.input(1).rank() != 0) {
    throw invalid_argument("ScanOp: axis must be a scalar, not {}", c.input(1).str());
  }
  c.set_output(0, c.input(0));
  auto axis = c.value_as_ints(1);
  if (!axis || !c.input(0).has_rank()) return;
  const int rank = c.input(0).rank();
  if (axis->at(0) < -rank || axis->at(0) >= rank) {
    throw invalid_argument("Expected scan axis in the range [{}, {}), but got {}", -rank, rank, axis->at(0));
  }
}

CumulateState prepare_cumulate(PrepareContext& c) { return {c.attr<bool>("exclusive"), c.attr<bool>("reverse")}; }

CumulateShape cumulate_shape(const KernelContext& c) {
  const Shape& x = c.shape(0);
  const int64_t given = c.dtype(1) == int32 ? c.scalar<int32_t>(1) : c.scalar<int64_t>(1);
  const int64_t axis = given < 0 ? given + x.rank() : given;
  // The shape function saw the axis only if it was constant.
  if (axis < 0 || axis >= x.rank()) {
    throw invalid_argument("Expected scan axis in the range [{}, {}), but got {}", -x.rank(), x.rank(), given);
  }
  CumulateShape s;
  for (int d = 0; d < x.rank(); ++d) (d < axis ? s.outer : d == axis ? s.n : s.inner) *= x[d];
  return s;
}

}  // namespace weir::ops
