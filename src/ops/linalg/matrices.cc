#include "ops/linalg/matrices.h"

#include "base/errors.h"
#include "graph/infer_context.h"

namespace weir::ops {

Shape infer_square(InferContext& c, int index) {
  c.require_min_rank(index, 2);
  Shape shape = c.input(index);
  if (!shape.has_rank()) return shape;
  const int64_t rows = shape[-2], columns = shape[-1];
  if (rows != kUnknown && columns != kUnknown && rows != columns) {
    throw invalid_argument("input {} must hold square matrices; its shape is {}", index, shape.str());
  }
  const int64_t size = rows == kUnknown ? columns : rows;
  shape.set_dim(-2, size);
  shape.set_dim(-1, size);
  return shape;
}

void infer_square_result(InferContext& c) { c.set_output(0, infer_square(c, 0)); }

void infer_solve(InferContext& c) {
  Shape matrix = infer_square(c, 0);
  c.require_min_rank(1, 2);
  const Shape& rhs = c.input(1);
  if (!matrix.has_rank()) return c.set_output(0, rhs);
  Shape wanted = matrix;
  wanted.set_dim(-1, kUnknown);
  c.set_output(0, wanted.merged(rhs));
}

}  // namespace weir::ops
