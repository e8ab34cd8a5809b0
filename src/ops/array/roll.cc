#include <algorithm>
#include <vector>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/math_ops.h"
#include "weir/space_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() < 1) {
    throw invalid_argument("Shape must be at least rank 1 but is rank 0: input must be 1-D or higher");
  }
  for (int i : {1, 2}) {
    if (c.input(i).has_rank() && c.input(i).rank() > 1) {
      throw invalid_argument("Shape must be at most rank 1 but is rank {}: {} must be a scalar or a 1-D vector; got shape {}",
                             c.input(i).rank(), i == 1 ? "shift" : "axis", c.input(i).str());
    }
  }
  if (!c.input(1).compatible(c.input(2))) {
    throw invalid_argument("shift and axis must have the same size: both shapes must be equal, but are {} and {}",
                           c.input(1).str(), c.input(2).str());
  }
  c.set_output(0, c.input(0));
}

void gradient(GradContext& c) {
  Output back = -c.input(1);
  c.set_input_grad(0, roll(c.output_grad(), back, c.input(2)));
}

// Rows of the last dimension are rotated in two pieces, each to the place of its row.
void cpu(KernelContext& c) {
  const Shape& shape = c.shape(0);
  const int rank = shape.rank();
  std::vector<int64_t> shift(static_cast<size_t>(rank), 0);
  for (int64_t i = 0; i < c.elements(1); ++i) {
    int64_t at = int_at(c, 2, i);
    if (at < 0) at += rank;
    if (at < 0 || at >= rank) throw invalid_argument("axis {} is out of range [{}, {})", int_at(c, 2, i), -rank, rank);
    const int d = static_cast<int>(at);
    const int64_t size = std::max<int64_t>(shape[d], 1);
    int64_t& total = shift[static_cast<size_t>(d)];
    total = (total + int_at(c, 1, i) % size + size) % size;
  }
  if (c.elements(0) == 0) return;
  const DType dtype = c.dtype(0);
  const int64_t width = shape[-1], turn = shift.back(), rows = c.elements(0) / width;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t to = 0, rest = row, stride = 1;
    for (int d = rank - 2; d >= 0; --d) {
      const int64_t at = (rest % shape[d] + shift[static_cast<size_t>(d)]) % shape[d];
      rest /= shape[d];
      to += at * stride;
      stride *= shape[d];
    }
    const void* from = offset(dtype, c.raw_input(0), row * width);
    void* out = offset(dtype, c.raw_output(), to * width);
    copy_elements(dtype, offset(dtype, out, turn), from, width - turn, c.pool());
    copy_elements(dtype, out, offset(dtype, from, width - turn), turn, c.pool());
  }
}

}  // namespace

OpDef roll_op() {
  return {.name = "Roll",
          .inputs = "input:T; shift:Tshift; axis:Taxis",
          .outputs = "output:T",
          .attrs = "T:type; Tshift:type{int32,int64}; Taxis:type{int32,int64}",
          .host = "shift, axis",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output roll(const In& input, const In& shift, const In& axis, std::string_view name) {
  return NodeBuilder("Roll", name).input(input).input(shift).input(axis).output();
}

}  // namespace weir
