#include "ops/sparse/sparse.h"

#include "base/errors.h"

namespace weir::ops {

int64_t infer_sparse_input(InferContext& c, int first) {
  c.require_rank(first, 2);
  c.require_rank(first + 1, 1);
  c.require_rank(first + 2, 1);
  const Shape &indices = c.input(first), &values = c.input(first + 1), &shape = c.input(first + 2);
  const int64_t count = indices.has_rank() ? indices[0] : kUnknown, rank = indices.has_rank() ? indices[1] : kUnknown;
  if (count != kUnknown && values.has_rank() && values[0] != kUnknown && values[0] != count) {
    throw invalid_argument("Number of values must match first dimension of indices. Got {} values, indices shape: {}",
                           values[0], indices.str());
  }
  const int64_t sizes = shape.has_rank() ? shape[0] : kUnknown;
  if (rank != kUnknown && sizes != kUnknown && rank != sizes) {
    throw invalid_argument(
        "Number of dimensions must match second dimension of indices. Got {} dimensions, indices shape: {}", sizes,
        indices.str());
  }
  return rank == kUnknown ? sizes : rank;
}

void set_sparse_output(InferContext& c, int first, int64_t values, int64_t rank) {
  c.set_output(first, Shape{values, rank});
  c.set_output(first + 1, Shape{values});
  if (first + 2 < c.outputs()) c.set_output(first + 2, Shape{rank});
}

Coordinates::Coordinates(const KernelContext& c, int indices_input, int shape_input, Rows allowed)
    : rows(c.input<int64_t>(indices_input)),
      dims(c.input<int64_t>(shape_input)),
      count(c.shape(indices_input)[0]),
      rank(c.shape(indices_input)[1]) {
  for (int64_t d = 0; d < rank; ++d) {
    if (dims[d] < 0) throw invalid_argument("shape {} has a size below zero", shape_text(dims, rank));
  }
  for (int64_t i = 0; allowed == Rows::kInside && rank > 0 && i < count; ++i) {
    for (int64_t d = 0; d < rank; ++d) {
      if (row(i)[d] < 0 || row(i)[d] >= dims[d]) {
        throw invalid_argument("indices[{}] = {} is out of bounds: need 0 <= index < {}", i, shape_text(row(i), rank),
                               shape_text(dims, rank));
      }
    }
  }
}

int64_t Coordinates::offset(int64_t i) const {
  int64_t at = 0;
  for (int64_t d = 0; d < rank; ++d) at = at * dims[d] + row(i)[d];
  return at;
}

int64_t Coordinates::checked_elements() const {
  int64_t elements = 1;
  for (int64_t d = 0; d < rank; ++d) elements = checked_multiply(elements, dims[d]);
  return elements;
}

int Coordinates::compare(const int64_t* a, const int64_t* b, int64_t rank) {
  for (int64_t d = 0; d < rank; ++d) {
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}

std::string shape_text(const int64_t* dims, int64_t rank) {
  std::string text = "[";
  for (int64_t d = 0; d < rank; ++d) text += (d ? "," : "") + std::to_string(dims[d]);
  return text + "]";
}

}  // namespace weir::ops
