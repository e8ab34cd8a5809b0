#pragma once

#include <vector>

#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/kernel.h"

// Sparse tensors, as operations take and give them: indices [n, rank], a row of coordinates for each value; values [n];
// and shape [rank].
namespace weir::ops {

// Inputs first, first + 1 and first + 2 are one. What is known of its rank; kUnknown.
int64_t infer_sparse_input(InferContext& c, int first);
// Sets outputs first .. first + 2 to one with that many values and that rank.
void set_sparse_output(InferContext& c, int first, int64_t values, int64_t rank);

// A sparse tensor while a kernel runs. Coordinates are inside of the shape.
struct Coordinates {
  // Throws InvalidArgument for a row that is outside, and for sizes below zero. Operations that only compare rows take
  // those outside as they are, as TensorFlow's do: sparse_merge and sparse_slice together drop classes with the number
  // -1.
  enum class Rows { kInside, kAny };
  Coordinates(const KernelContext& c, int indices_input, int shape_input, Rows allowed = Rows::kInside);

  const int64_t* row(int64_t i) const { return rows + i * rank; }
  // Which element of the dense tensor the row means. Call checked_elements() once before.
  int64_t offset(int64_t i) const;
  // How many elements the dense tensor has. Throws InvalidArgument when that is no number.
  int64_t checked_elements() const;
  // Which of two rows comes first in the order of dense tensors.
  static int compare(const int64_t* a, const int64_t* b, int64_t rank);

  const int64_t* rows;
  const int64_t* dims;
  int64_t count, rank;
};

std::string shape_text(const int64_t* dims, int64_t rank);  // "[2,3]"

// Rows of coordinates as an index tensor [count, rank].
inline Tensor index_tensor(const std::vector<int64_t>& rows, int64_t count, int64_t rank) {
  return Tensor(rows).reshaped(Shape{count, rank});
}

}  // namespace weir::ops
