#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/array/strided_copy.h"
#include "ops/linalg/matrices.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

int64_t smaller(int64_t rows, int64_t columns) {
  if (rows == 0 || columns == 0) return 0;
  return rows == kUnknown || columns == kUnknown ? kUnknown : std::min(rows, columns);
}

Shape diagonal_of(const Shape& matrices) {
  Shape shape = batch_of(matrices);
  shape.append(smaller(matrices[-2], matrices[-1]));
  return shape;
}

void infer_diag(InferContext& c) {
  c.require_min_rank(0, 1);
  Shape shape = c.input(0);
  if (!shape.has_rank()) return;
  shape.append(shape[-1]);
  c.set_output(0, shape);
}

void infer_part(InferContext& c) {
  c.require_min_rank(0, 2);
  if (c.input(0).has_rank()) c.set_output(0, diagonal_of(c.input(0)));
}

void infer_set(InferContext& c) {
  c.require_min_rank(0, 2);
  c.require_min_rank(1, 1);
  const Shape& matrices = c.input(0);
  if (matrices.has_rank() && !diagonal_of(matrices).compatible(c.input(1))) {
    throw invalid_argument("the diagonals of {} have shape {}; got {}", matrices.str(), diagonal_of(matrices).str(),
                           c.input(1).str());
  }
  c.set_output(0, matrices);
}

void diag_cpu(KernelContext& c) {
  const int64_t n = c.shape(0)[-1];
  zero_elements(c.dtype(0), c.raw_output(), c.output_elements(), c.pool());
  with_element_type(c.dtype(0), [&]<class T>(T) {
    for (int64_t i = 0; i < c.elements(0); ++i) {
      c.output<T>()[i / n * n * n + i % n * (n + 1)] = c.input<T>(0)[i];
    }
  });
}

// Calls body(element of the diagonal, element of the matrices).
template <class Body>
void for_each_on_diagonal(const Shape& matrices, const Body& body) {
  const int64_t columns = matrices[-1], size = matrices[-2] * columns, n = std::min(matrices[-2], columns);
  const int64_t count = matrix_count(matrices);
  for (int64_t b = 0; b < count; ++b) {
    for (int64_t i = 0; i < n; ++i) body(b * n + i, b * size + i * (columns + 1));
  }
}

void part_cpu(KernelContext& c) {
  with_element_type(c.dtype(0), [&]<class T>(T) {
    for_each_on_diagonal(c.shape(0), [&](int64_t to, int64_t from) { c.output<T>()[to] = c.input<T>(0)[from]; });
  });
}

void set_cpu(KernelContext& c) {
  if (c.raw_output() != c.raw_input(0)) {
    copy_elements(c.dtype(0), c.raw_output(), c.raw_input(0), c.elements(0), c.pool());
  }
  with_element_type(c.dtype(0), [&]<class T>(T) {
    for_each_on_diagonal(c.shape(0), [&](int64_t from, int64_t to) { c.output<T>()[to] = c.input<T>(1)[from]; });
  });
}

void diag_gradient(GradContext& c) { c.set_input_grad(0, matrix_diag_part(c.output_grad())); }

void part_gradient(GradContext& c) {
  const Shape& shape = c.input(0).shape();
  const bool square = shape.has_rank() && shape[-1] != kUnknown && shape[-1] == shape[-2];
  c.set_input_grad(0, square ? matrix_diag(c.output_grad()) : matrix_set_diag(zeros_like(c.input(0)), c.output_grad()));
}

void set_gradient(GradContext& c) {
  c.set_input_grad(0, matrix_set_diag(c.output_grad(), zeros_like(c.input(1))));
  c.set_input_grad(1, matrix_diag_part(c.output_grad()));
}

}  // namespace

OpDef matrix_diag_op() {
  return {.name = "MatrixDiag",
          .inputs = "diagonal:T",
          .outputs = "output:T",
          .attrs = "T:type",
          .infer = infer_diag,
          .gradient = diag_gradient,
          .cpu = {.select = kernel_moving<diag_cpu>}};
}

OpDef matrix_diag_part_op() {
  return {.name = "MatrixDiagPart",
          .inputs = "input:T",
          .outputs = "diagonal:T",
          .attrs = "T:type",
          .infer = infer_part,
          .gradient = part_gradient,
          .cpu = {.select = kernel_moving<part_cpu>}};
}

OpDef matrix_set_diag_op() {
  return {.name = "MatrixSetDiag",
          .inputs = "input:T; diagonal:T",
          .outputs = "output:T",
          .attrs = "T:type",
          .infer = infer_set,
          .gradient = set_gradient,
          .cpu = {.select = kernel_moving<set_cpu>, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir {

// The names are TensorFlow 1.15's for its functions of these names.
Output matrix_diag(const In& diagonal, std::string_view name) {
  return NodeBuilder("MatrixDiag", ops::name_or(name, "diag")).input(diagonal).output();
}
Output matrix_diag_part(const In& input, std::string_view name) {
  return NodeBuilder("MatrixDiagPart", ops::name_or(name, "diag_part")).input(input).output();
}
Output matrix_set_diag(const In& input, const In& diagonal, std::string_view name) {
  return NodeBuilder("MatrixSetDiag", ops::name_or(name, "set_diag")).input(input).input(diagonal).output();
}

}  // namespace weir
