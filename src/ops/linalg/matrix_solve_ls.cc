#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/linalg/dense.h"
#include "ops/linalg/matrices.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_min_rank(0, 2);
  c.require_min_rank(1, 2);
  c.require_scalar(2);
  const Shape &matrix = c.input(0), &rhs = c.input(1);
  if (!matrix.has_rank() || !rhs.has_rank()) return;
  Shape expected = matrix;
  expected.set_dim(-1, kUnknown);
  Shape result = expected.merged(rhs);
  result.set_dim(-2, matrix[-1]);
  c.set_output(0, result);
}

struct State {
  bool fast;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("fast")}; }

// Factors a positive definite matrix (n x n, its lower half) in place. False when it is none, as
// far as rounding lets one see.
template <class W>
bool factor_positive(W* l, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    double pivot = std::real(l[j * n + j]);
    const double noise = pivot * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
    for (int64_t k = 0; k < j; ++k) pivot -= std::norm(l[j * n + k]);
    if (!(pivot > noise)) return false;
    l[j * n + j] = std::sqrt(pivot);
    for (int64_t i = j + 1; i < n; ++i) {
      W sum = l[i * n + j];
      for (int64_t k = 0; k < j; ++k) sum -= l[i * n + k] * conjugate(l[j * n + k]);
      l[i * n + j] = sum / l[j * n + j];
    }
  }
  return true;
}

// x (rows x k) = a (rows x inner, adjoint of the inner x rows matrix when asked) times b (inner x k).
template <class W>
void multiply(const W* a, bool adjoint, const W* b, int64_t rows, int64_t inner, int64_t k, W* x) {
  std::fill_n(x, rows * k, W(0));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < inner; ++j) {
      const W f = adjoint ? conjugate(a[j * rows + i]) : a[i * inner + j];
      for (int64_t l = 0; l < k; ++l) x[i * k + l] += f * b[j * k + l];
    }
  }
}

// By the normal equations: (a^H a + l2) x = a^H b, or x = a^H (a a^H + l2)^-1 b for a wide matrix.
template <class W>
bool solve_fast(const W* a, int64_t m, int64_t n, const W* b, int64_t k, double l2, W* x) {
  const bool tall = m >= n;
  const int64_t size = tall ? n : m;
  std::vector<W> gramian(static_cast<size_t>(size * size)), y(static_cast<size_t>(size * k)), l_h(gramian.size());
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      W sum = 0;
      for (int64_t r = 0; r < (tall ? m : n); ++r) {
        sum += tall ? conjugate(a[r * n + i]) * a[r * n + j] : a[i * n + r] * conjugate(a[j * n + r]);
      }
      gramian[static_cast<size_t>(i * size + j)] = sum;
    }
    gramian[static_cast<size_t>(i * size + i)] += l2;
  }
  if (!factor_positive(gramian.data(), size)) return false;
  if (tall) {
    multiply(a, true, b, n, m, k, y.data());
  } else {
    std::copy_n(b, m * k, y.data());
  }
  solve_triangular(gramian.data(), size, true, false, y.data(), k);
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      l_h[static_cast<size_t>(j * size + i)] = conjugate(gramian[static_cast<size_t>(i * size + j)]);
    }
  }
  solve_triangular(l_h.data(), size, false, false, y.data(), k);
  if (tall) {
    std::copy_n(y.data(), n * k, x);
  } else {
    multiply(a, true, y.data(), n, m, k, x);
  }
  return true;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = PreciseOf<T>;
    const int64_t m = c.shape(0)[-2], n = c.shape(0)[-1], k = c.shape(1)[-1];
    const double l2 = c.scalar<double>(2);
    if (!(l2 >= 0)) c.fail("l2_regularizer must be >= 0.");
    c.pool().parallel_for(matrix_count(c.shape(0)), 1, [&](int64_t begin, int64_t end) {
      std::vector<W> a(static_cast<size_t>(m * n)), b(static_cast<size_t>(m * k)), x(static_cast<size_t>(n * k));
      for (int64_t i = begin; i < end; ++i) {
        load(c.input<T>(0) + i * m * n, m, n, false, a.data());
        load(c.input<T>(1) + i * m * k, m, k, false, b.data());
        if (m == 0) {
          // Nothing is asked of x: zero is the shortest.
        } else if (!c.state<State>().fast) {
          dense::least_squares(a.data(), m, n, b.data(), k, x.data());
        } else if (!solve_fast(a.data(), m, n, b.data(), k, l2, x.data())) {
          c.fail(
              "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger "
              "l2_regularizer > 0.");
        }
        store(x.data(), n * k, c.output<T>() + i * n * k);
      }
    });
  }
};

// The Cholesky factor of a^H a + l2 (tall) or a a^H + l2.
Output gramian_factor(const Output& a, const Output& l2, bool tall) {
  Output gramian = matmul(a, a, {.adjoint_a = tall, .adjoint_b = !tall});
  return cholesky(matrix_set_diag(gramian, matrix_diag_part(gramian) + l2));
}

void gradient(GradContext& c) {
  if (!c.attr<bool>("fast")) throw invalid_argument("Gradient not defined for fast=False");
  Output a = c.input(0), b = c.input(1), x = c.output(0), grad = c.output_grad();
  Output l2 = cast(c.input(2), a.dtype());
  const Shape& shape = a.shape();
  if (!shape.has_rank() || shape[-2] == kUnknown || shape[-1] == kUnknown) {
    throw error(Code::Unimplemented, "the gradient of MatrixSolveLs needs matrices of known size; {} is not",
                shape.str());
  }
  if (shape[-2] >= shape[-1]) {
    Output z = cholesky_solve(gramian_factor(a, l2, true), grad);
    Output xz = matmul(x, z, {.adjoint_b = true});
    c.set_input_grad(0, matmul(b, z, {.adjoint_b = true}) - matmul(a, xz + matrix_transpose(xz)));
    c.set_input_grad(1, matmul(a, z));
  } else {
    Output factor = gramian_factor(a, l2, false);
    Output b_grad = cholesky_solve(factor, matmul(a, grad)), z = cholesky_solve(factor, b);
    Output outside = grad - matmul(a, b_grad, {.adjoint_a = true});
    c.set_input_grad(0, matmul(z, outside, {.adjoint_b = true}) - matmul(b_grad, matmul(z, a, {.adjoint_a = true})));
    c.set_input_grad(1, b_grad);
  }
}

}  // namespace

OpDef matrix_solve_ls_op() {
  return {.name = "MatrixSolveLs",
          .inputs = "matrix:T; rhs:T; l2_regularizer:double",
          .outputs = "output:T",
          .attrs = "T:type{double,float,half,complex64,complex128}; fast:bool=True",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<MatrixTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output matrix_solve_ls(const In& matrix, const In& rhs, const LeastSquaresOptions& options, std::string_view name) {
  return NodeBuilder("MatrixSolveLs", name)
      .input(matrix)
      .input(rhs)
      .input(options.l2_regularizer)
      .attr("fast", options.fast)
      .output();
}

}  // namespace weir
