#include "ops/array/pad_common.h"

#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/array/paddings.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {

void require_paddings(const InferContext& c) {
  const Shape &from = c.input(0), &paddings = c.input(1);
  const int64_t rank = from.rank();
  if (!paddings.has_rank()) return;
  if (paddings[1] != 2 && paddings[1] != kUnknown) {
    throw invalid_argument("'paddings' must have shape [{},2]; it has {}", rank < 0 ? "n" : std::to_string(rank),
                           paddings.str());
  }
  if (rank >= 0 && paddings[0] != kUnknown && paddings[0] != rank) {
    throw invalid_argument(
        "Shape must be rank {} but is rank {}: The first dimension of paddings must be the rank of inputs: {} for shape {}",
        paddings[0], rank, paddings.str(), from.str());
  }
}

void infer_pad(InferContext& c) {
  c.require_rank(1, 2);
  require_paddings(c);
  const Shape &from = c.input(0), &paddings = c.input(1);
  int64_t rank = from.rank();
  if (rank < 0 && paddings.has_rank()) rank = paddings[0];
  if (rank < 0 || rank > kMaxRank) return;
  Shape to = Shape::unknown_dims(static_cast<int>(rank));
  if (std::optional<std::vector<int64_t>> value = c.value_as_ints(1)) {
    for (int i = 0; i < rank; ++i) {
      int64_t before = (*value)[static_cast<size_t>(2 * i)], after = (*value)[static_cast<size_t>(2 * i + 1)];
      if (before < 0 || after < 0) {
        throw invalid_argument("paddings must be non-negative; those of dimension {} are {} and {}", i, before, after);
      }
      if (!from.has_rank() || from[i] == kUnknown) continue;
      to.set_dim(i, checked_add(from[i], checked_add(before, after)));
    }
  }
  c.set_output(0, to);
}

// The part of the gradient that is not padding.
void pad_gradient(GradContext& c) {
  Output x = c.input(0), paddings = c.input(1);
  Output before = slice(paddings, {0, 0}, stack({rank(x), 1}));
  Output begin = reshape(before, {-1});
  c.set_input_grad(0, slice(c.output_grad(), begin, shape(x, begin.dtype())));
}

void compute_pad(KernelContext& c, const void* value) {
  const Shape &from = c.shape(0), &to = c.output_shape();
  Strides from_strides(from), to_strides(to);
  DType dtype = c.dtype(0);
  int64_t start = 0;
  StridedBox box;
  for (int i = 0; i < from.rank(); ++i) {
    start += int_at(c, 1, 2 * i) * to_strides[i];
    box.add(from.dims()[static_cast<size_t>(i)], to_strides[i], from_strides[i]);
  }
  if (c.output_elements() > c.elements(0)) {
    if (value) {
      fill_elements(dtype, c.raw_output(), c.output_elements(), value, c.pool());
    } else {
      zero_elements(dtype, c.raw_output(), c.output_elements(), c.pool());
    }
  }
  copy_box(dtype, box, offset(dtype, c.raw_output(), start), c.raw_input(0), c.pool());
}

}  // namespace weir::ops
