#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/linalg/matrices.h"
#include "weir/linalg_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_min_rank(0, 2);
  c.require_scalar(1);
  c.require_scalar(2);
  c.set_output(0, c.input(0));
}

void gradient(GradContext& c) { c.set_input_grad(0, matrix_band_part(c.output_grad(), c.input(1), c.input(2))); }

void cpu(KernelContext& c) {
  const int64_t rows = c.shape(0)[-2], columns = c.shape(0)[-1];
  int64_t lower = int_at(c, 1), upper = int_at(c, 2);
  if (lower > rows) throw invalid_argument("num_lower must be negative or at most {} (rows); it is {}", rows, lower);
  if (upper > columns) {
    throw invalid_argument("num_upper must be negative or at most {} (columns); it is {}", columns, upper);
  }
  if (lower < 0) lower = rows;
  if (upper < 0) upper = columns;
  if (c.output_elements() == 0) return;
  with_element_type(c.dtype(0), [&]<class T>(T) {
    const T* from = c.input<T>(0);
    T* to = c.output<T>();
    for (int64_t row = 0; row < c.elements(0) / columns; ++row, from += columns, to += columns) {
      const int64_t i = row % rows;
      const int64_t begin = std::clamp<int64_t>(i - lower, 0, columns);
      const int64_t end = std::clamp<int64_t>(i + upper + 1, begin, columns);
      std::fill(to, to + begin, T());
      if (to != from) std::copy(from + begin, from + end, to + begin);
      std::fill(to + end, to + columns, T());
    }
  });
}

}  // namespace

OpDef matrix_band_part_op() {
  return {.name = "MatrixBandPart",
          .inputs = "input:T; num_lower:Tindex; num_upper:Tindex",
          .outputs = "band:T",
          .attrs = "T:type; Tindex:type{int32,int64}=int64",
          .host = "num_lower, num_upper",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir {

Output matrix_band_part(const In& input, const In& num_lower, const In& num_upper, std::string_view name) {
  return NodeBuilder("MatrixBandPart", name).input(input).input(num_lower).input(num_upper).output();
}

}  // namespace weir
