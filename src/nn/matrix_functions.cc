#include <limits>

#include "base/errors.h"
#include "nn/convert.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

// Functions of matrices that are made of several operations.
namespace weir {

using nn::as_output;
using nn::graph_of;

namespace {

// The distance from one to the next number.
double precision_of(DType dtype) {
  if (dtype == DType::Float64) return std::numeric_limits<double>::epsilon();
  if (dtype == DType::Float32) return std::numeric_limits<float>::epsilon();
  throw invalid_argument("Input `a` must have `float`-like `dtype` (saw {}).", dtype_name(dtype));
}

// The larger size of the matrices.
Output largest_size(const Output& a) {
  const Shape& shape_known = a.shape();
  if (shape_known.has_rank() && shape_known.rank() < 2) {
    throw invalid_argument("Input `a` must have at least 2 dimensions (saw: {}).", shape_known.rank());
  }
  return cast(reduce_max(subscript(shape(a), {from(-2)})), a.dtype());
}

}  // namespace

Output cholesky_solve(const In& chol, const In& rhs, std::string_view name) {
  Graph& g = graph_of(chol);
  LineScope line(g, source_line(chol.where()));
  Scope scope = g.name_scope(name.empty() ? "cholesky_solve" : name);
  Output y = matrix_triangular_solve(chol, rhs);
  return matrix_triangular_solve(chol, y, {.adjoint = true});
}

Output logdet(const In& matrix, std::string_view name) {
  Graph& g = graph_of(matrix);
  LineScope line(g, source_line(matrix.where()));
  Scope scope = g.name_scope(name.empty() ? "logdet" : name);
  return 2.0 * reduce_sum(log(real(matrix_diag_part(cholesky(matrix)))), {-1});
}

Output matrix_rank(const In& a, const std::optional<In>& tol, std::string_view name) {
  Graph& g = graph_of(a);
  LineScope line(g, source_line(a.where()));
  Scope scope = g.name_scope(name.empty() ? "matrix_rank" : name);
  Output x = a.output(), s = svd(x, {.compute_uv = false}).s;
  const double epsilon = precision_of(x.dtype());
  Output least = tol ? as_output(g, *tol, x.dtype(), "tol")
                     : epsilon * largest_size(x) * reduce_max(s, {.axes = {-1}, .keep_dims = true});
  return reduce_sum(cast(s > least, int32), -1);
}

Output pinv(const In& a, const std::optional<In>& rcond, std::string_view name) {
  Graph& g = graph_of(a);
  LineScope line(g, source_line(a.where()));
  Scope scope = g.name_scope(name.empty() ? "pinv" : name);
  Output x = a.output();
  const double epsilon = precision_of(x.dtype());
  Output condition = rcond ? as_output(g, *rcond, x.dtype(), "rcond") : 10 * epsilon * largest_size(x);
  Svd parts = svd(x);
  Output cutoff = expand_dims(condition * reduce_max(parts.s, -1), -1);
  Output none = cast(g.constant(std::numeric_limits<float>::infinity()), x.dtype());
  Output s = where_v2(parts.s > cutoff, parts.s, none);
  return matmul(parts.v / expand_dims(s, -2), parts.u, {.adjoint_b = true});
}

Output matvec(const In& a, const In& b, const MatMulOptions& options, std::string_view name) {
  Graph& g = graph_of(a);
  LineScope line(g, source_line(a.where()));
  Scope scope = g.name_scope(name.empty() ? "MatVec" : name);
  return squeeze(matmul(a, expand_dims(b, -1), options), {-1});
}

}  // namespace weir
