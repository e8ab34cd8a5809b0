#pragma once

#include <optional>
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

// x of a x = rhs, from the Cholesky factor of a.
WEIR_API Output cholesky_solve(const In& chol, const In& rhs, std::string_view name = {});

// Decompositions. Their gradients are not defined where singular values or eigenvalues are equal.
struct SvdOptions {
  bool compute_uv = true;      // false: only the singular values; u and v are empty
  bool full_matrices = false;  // u and v square, rather than min(m, n) columns of them
};
struct Svd {
  Output s, u, v;  // input = u diag(s) v^H; s descending
};
WEIR_API Svd svd(const In& tensor, const SvdOptions& options = {}, std::string_view name = {});
struct Qr {
  Output q, r;
};
WEIR_API Qr qr(const In& input, bool full_matrices = false, std::string_view name = {});
struct Lu {
  Output lu, p;  // both factors in one matrix; which row of the input stands where
};
WEIR_API Lu lu(const In& input, DType output_idx_type = int32, std::string_view name = {});
struct SelfAdjointEig {
  Output e, v;  // ascending; eigenvectors in columns
};
// Reads the lower half of the matrices.
WEIR_API SelfAdjointEig self_adjoint_eig(const In& tensor, bool compute_v = true, std::string_view name = {});

struct LeastSquaresOptions {
  In l2_regularizer = 0.0;
  bool fast = true;  // by the normal equations; else slower, for matrices of any rank, and without the regularizer
};
// The x that minimises |matrix x - rhs|^2 + l2_regularizer |x|^2.
WEIR_API Output matrix_solve_ls(const In& matrix, const In& rhs, const LeastSquaresOptions& options = {},
                                std::string_view name = {});
// Matrices with three diagonals. `diagonals` [..., 3, m] are those above, on and below the main one; the last above and
// the first below do not count.
WEIR_API Output tridiagonal_solve(const In& diagonals, const In& rhs, bool partial_pivoting = true,
                                  std::string_view name = {});
WEIR_API Output tridiagonal_mat_mul(const In& superdiag, const In& maindiag, const In& subdiag, const In& rhs,
                                    std::string_view name = {});

// Functions of square matrices.
WEIR_API Output matrix_exponential(const In& input, std::string_view name = {});
WEIR_API Output matrix_logarithm(const In& input, std::string_view name = {});  // complex matrices
WEIR_API Output matrix_square_root(const In& input, std::string_view name = {});
// Conjugated and transposed.
WEIR_API Output adjoint(const In& matrix, std::string_view name = {});
// The logarithm of the determinant of positive definite matrices.
WEIR_API Output logdet(const In& matrix, std::string_view name = {});
// How many singular values are above `tol`; by default the rounding error of the largest.
WEIR_API Output matrix_rank(const In& a, const std::optional<In>& tol = {}, std::string_view name = {});
// The pseudo-inverse. Singular values up to `rcond` times the largest count as zero.
WEIR_API Output pinv(const In& a, const std::optional<In>& rcond = {}, std::string_view name = {});
// Products of matrices and vectors, the last dimension of b.
WEIR_API Output matvec(const In& a, const In& b, const MatMulOptions& options = {}, std::string_view name = {});

// Products of vectors of three, the last dimension.
WEIR_API Output cross(const In& a, const In& b, std::string_view name = {});

// Sums of products over axes of a and b, in pairs.
WEIR_API Output tensordot(const In& a, const In& b, const std::vector<int64_t>& a_axes,
                          const std::vector<int64_t>& b_axes, std::string_view name = {});
// Over the last `axes` dimensions of a and the first of b.
WEIR_API Output tensordot(const In& a, const In& b, int axes, std::string_view name = {});
// Over axes that the run says: two rows, those of a and those of b.
WEIR_API Output tensordot_along(const In& a, const In& b, const In& axes, std::string_view name = {});

// Sums of products over the indices that the equation names, such as "bij,bjk->bik"; "..." stands for the other
// dimensions. Without "->" the result has the indices that occur once, in alphabetical order.
WEIR_API Output einsum(std::string_view equation, const InList& inputs, std::string_view name = {});

struct NormOptions {
  double ord = 2;  // 1, 2, another positive number, or infinity
  Axes axes = {};  // nothing: over all elements
  bool keep_dims = false;
};
WEIR_API Output norm(const In& tensor, const NormOptions& options = {}, std::string_view name = {});

// Norms that matrices have as operators: the largest sum of a column (1) or of a row (infinity) of absolute values, or
// the largest singular value (2). norm() over two axes is Frobenius'.
struct MatrixNormOptions {
  double ord = 2;
  int rows = -2, columns = -1;  // the axes of the matrices
  bool keep_dims = false;
};
WEIR_API Output matrix_norm(const In& matrices, const MatrixNormOptions& options = {}, std::string_view name = {});

}  // namespace weir
