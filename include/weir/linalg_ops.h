#pragma once

#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/math_ops.h"

// Matrices: the innermost two dimensions of tensors, whose other dimensions are batches.
namespace weir {

// Diagonals. diag and diag_part double and halve the rank: diag of a vector is a matrix, of a matrix a tensor of
// rank 4.
WEIR_API Output diag(const In& diagonal, std::string_view name = {});
WEIR_API Output diag_part(const In& input, std::string_view name = {});
WEIR_API Output matrix_diag(const In& diagonal, std::string_view name = {});
WEIR_API Output matrix_diag_part(const In& input, std::string_view name = {});
WEIR_API Output matrix_set_diag(const In& input, const In& diagonal, std::string_view name = {});
// Zero but for `num_lower` diagonals below the main one and `num_upper` above it; negative means all.
WEIR_API Output matrix_band_part(const In& input, const In& num_lower, const In& num_upper, std::string_view name = {});
WEIR_API Output trace(const In& x, std::string_view name = {});

struct EyeOptions {
  int64_t num_columns = -1;  // as many as rows
  std::vector<int64_t> batch_shape = {};
  DType dtype = float32;
};
// Ones on the diagonal.
WEIR_API Output eye(Graph& graph, int64_t num_rows, const EyeOptions& options = {}, std::string_view name = {});

WEIR_API Output matrix_transpose(const In& a, std::string_view name = {});
struct AdjointOption {
  bool adjoint = false;  // of the conjugate transpose instead
};
// Fail with InvalidArgument when a matrix is not invertible.
WEIR_API Output matrix_inverse(const In& input, const AdjointOption& options = {}, std::string_view name = {});
WEIR_API Output matrix_solve(const In& matrix, const In& rhs, const AdjointOption& options = {},
                             std::string_view name = {});
WEIR_API Output matrix_determinant(const In& input, std::string_view name = {});
struct LogDeterminant {
  Output sign, log_abs_determinant;
};
WEIR_API LogDeterminant log_matrix_determinant(const In& input, std::string_view name = {});

struct TriangularSolveOptions {
  bool lower = true;     // which half of the matrix is read; the other counts as zero
  bool adjoint = false;  // solve with the conjugate transpose
};
WEIR_API Output matrix_triangular_solve(const In& matrix, const In& rhs, const TriangularSolveOptions& options = {},
                                        std::string_view name = {});
// The lower triangular factor L of L * adjoint(L). Reads the lower half of the input.
WEIR_API Output cholesky(const In& input, std::string_view name = {});

// Products of vectors of three, the last dimension.
WEIR_API Output cross(const In& a, const In& b, std::string_view name = {});

// Sums of products over axes of a and b, in pairs.
WEIR_API Output tensordot(const In& a, const In& b, const std::vector<int64_t>& a_axes,
                          const std::vector<int64_t>& b_axes, std::string_view name = {});
// Over the last `axes` dimensions of a and the first of b.
WEIR_API Output tensordot(const In& a, const In& b, int axes, std::string_view name = {});

// Sums of products over the indices that the equation names, such as "bij,bjk->bik"; "..." stands for the other
// dimensions. Without "->" the result has the indices that occur once, in alphabetical order.
WEIR_API Output einsum(std::string_view equation, const InList& inputs, std::string_view name = {});

struct NormOptions {
  double ord = 2;  // 1, 2, another positive number, or infinity
  Axes axes = {};  // nothing: over all elements
  bool keep_dims = false;
};
WEIR_API Output norm(const In& tensor, const NormOptions& options = {}, std::string_view name = {});

}  // namespace weir
