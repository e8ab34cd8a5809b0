#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"

namespace weir::ops {
namespace {

// Rows of one tensor, each an input of its own.
void infer(InferContext& c) {
  const Shape& whole = c.attr<Shape>("shape");
  if (!whole.has_rank() || whole.rank() < 1)
    throw invalid_argument("the shape attribute must have a dimension of rows");
  if (!whole.is_known()) {
    throw invalid_argument("All dimensions except the first must be known: shape is {}", whole.str());
  }
  Shape row = whole;
  row.set_dim(0, 1);
  for (int i = 0; i < c.inputs(); ++i) {
    if (!row.compatible(c.input(i))) {
      throw invalid_argument("All input shapes must be equal to {}; input {} has {}", row.str(), i, c.input(i).str());
    }
  }
  if (whole[0] != c.inputs()) {
    throw invalid_argument("{} rows are given for the shape {}", c.inputs(), whole.str());
  }
  c.set_output(0, whole);
}

void cpu(KernelContext& c) {
  const int64_t row = c.elements(0);
  for (int i = 0; i < c.inputs(); ++i) {
    copy_elements(c.dtype(0), offset(c.dtype(0), c.raw_output(), i * row), c.raw_input(i), row, c.pool());
  }
}

}  // namespace

OpDef parallel_concat_op() {
  return {.name = "ParallelConcat",
          .inputs = "values:N*T",
          .outputs = "output:T",
          .attrs = "N:int>=1; T:type; shape:shape",
          .infer = infer,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops
