#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/linalg/matrices.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

// Matrices with three diagonals: products, and systems of equations.
namespace weir::ops {
namespace {

// diagonals [..., 3, m]: above, main and below; the last above and the first below do not count. rhs [..., m, k].
void infer_solve_tridiagonal(InferContext& c) {
  c.require_min_rank(0, 2);
  c.require_min_rank(1, 2);
  const Shape &diagonals = c.input(0), &rhs = c.input(1);
  if (diagonals.has_rank()) {
    if (diagonals[-2] != 3 && diagonals[-2] != kUnknown) {
      throw invalid_argument("Expected 3 diagonals got {}", diagonals[-2]);
    }
    Shape expected = batch_of(diagonals);
    expected.append(diagonals[-1]);
    expected.append(kUnknown);
    return c.set_output(0, expected.merged(rhs));
  }
  c.set_output(0, rhs);
}

struct State {
  bool pivot;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("partial_pivoting")}; }

// Without exchanging rows.
template <class W>
bool solve_in_order(const W* above, const W* main, const W* below, int64_t m, W* x, int64_t k,
                    std::vector<W>& scratch) {
  scratch.resize(static_cast<size_t>(m));
  for (int64_t i = 0; i < m; ++i) {
    W pivot = main[i];
    if (i > 0) pivot -= below[i] * scratch[static_cast<size_t>(i - 1)];
    if (pivot == W(0)) return false;
    for (int64_t j = 0; j < k; ++j) {
      W value = x[i * k + j];
      if (i > 0) value -= below[i] * x[(i - 1) * k + j];
      x[i * k + j] = value / pivot;
    }
    scratch[static_cast<size_t>(i)] = i + 1 < m ? above[i] / pivot : W(0);
  }
  for (int64_t i = m - 2; i >= 0; --i) {
    for (int64_t j = 0; j < k; ++j) x[i * k + j] -= scratch[static_cast<size_t>(i)] * x[(i + 1) * k + j];
  }
  return true;
}

// Exchanging rows fills a second diagonal above: `u` holds three numbers for each row.
template <class W>
bool solve_pivoting(const W* above, const W* main, const W* below, int64_t m, W* x, int64_t k, std::vector<W>& u) {
  u.assign(static_cast<size_t>(3 * m), W(0));
  W* row = u.data();
  row[0] = main[0];
  row[1] = m > 1 ? above[0] : W(0);
  for (int64_t i = 0; i + 1 < m; ++i) {
    W next[3] = {below[i + 1], main[i + 1], i + 2 < m ? above[i + 1] : W(0)};
    W* now = row + 3 * i;
    if (std::abs(next[0]) > std::abs(now[0])) {
      for (int d = 0; d < 3; ++d) std::swap(now[d], next[d]);
      for (int64_t j = 0; j < k; ++j) std::swap(x[i * k + j], x[(i + 1) * k + j]);
    }
    if (now[0] == W(0)) return false;
    const W factor = next[0] / now[0];
    W* then = now + 3;
    then[0] = next[1] - factor * now[1];
    then[1] = next[2] - factor * now[2];
    for (int64_t j = 0; j < k; ++j) x[(i + 1) * k + j] -= factor * x[i * k + j];
  }
  for (int64_t i = m - 1; i >= 0; --i) {
    const W* now = row + 3 * i;
    if (now[0] == W(0)) return false;
    for (int64_t j = 0; j < k; ++j) {
      W value = x[i * k + j];
      if (i + 1 < m) value -= now[1] * x[(i + 1) * k + j];
      if (i + 2 < m) value -= now[2] * x[(i + 2) * k + j];
      x[i * k + j] = value / now[0];
    }
  }
  return true;
}

struct Solve {
  template <class T>
  static void run(KernelContext& c) {
    using W = PreciseOf<T>;
    const int64_t m = c.shape(1)[-2], k = c.shape(1)[-1];
    if (m == 0) return;
    const bool pivot = c.state<State>().pivot;
    c.pool().parallel_for(matrix_count(c.shape(1)), 1, [&](int64_t begin, int64_t end) {
      std::vector<W> d(static_cast<size_t>(3 * m)), x(static_cast<size_t>(m * k)), scratch;
      for (int64_t b = begin; b < end; ++b) {
        load(c.input<T>(0) + b * 3 * m, 3, m, false, d.data());
        load(c.input<T>(1) + b * m * k, m, k, false, x.data());
        const W *above = d.data(), *main = above + m, *below = main + m;
        const bool solved = pivot ? solve_pivoting(above, main, below, m, x.data(), k, scratch)
                                  : solve_in_order(above, main, below, m, x.data(), k, scratch);
        if (!solved) {
          c.fail(
              pivot
                  ? "The matrix is not invertible."
                  : "The matrix is either not invertible, or requires pivoting. Try setting partial_pivoting = True.");
        }
        store(x.data(), m * k, c.output<T>() + b * m * k);
      }
    });
  }
};

// Row i of x becomes row i + 1 (up) or i - 1, with zeros at the end that becomes free.
Output shifted(const Output& x, bool up) {
  Output zero_row = zeros_like(subscript(x, {kEllipsis, between(0, 1), kAll}));
  return up ? concat({subscript(x, {kEllipsis, from(1), kAll}), zero_row}, -2)
            : concat({zero_row, subscript(x, {kEllipsis, until(-1), kAll})}, -2);
}
Output diagonal_of(const Output& diagonals, int which) { return subscript(diagonals, {kEllipsis, which, kAll}); }

void solve_gradient(GradContext& c) {
  Output diagonals = c.input(0), x = c.output(0);
  // The transpose: what was below comes above, moved by one.
  Output columns = matrix_transpose(diagonals);
  Output up = subscript(shifted(columns, true), {kEllipsis, 2}),
         down = subscript(shifted(columns, false), {kEllipsis, 0});
  Output turned = stack({up, diagonal_of(diagonals, 1), down}, -2);
  // Complex numbers are not conjugated, as they are not in TensorFlow.
  Output rhs_grad = NodeBuilder("TridiagonalSolve")
                        .input(turned)
                        .input(c.output_grad())
                        .attr("partial_pivoting", c.attr<bool>("partial_pivoting"))
                        .output();
  c.set_input_grad(0, -stack({reduce_sum(rhs_grad * shifted(x, true), -1), reduce_sum(rhs_grad * x, -1),
                              reduce_sum(rhs_grad * shifted(x, false), -1)},
                             -2));
  c.set_input_grad(1, rhs_grad);
}

void infer_product(InferContext& c) {
  for (int i = 0; i < 4; ++i) c.require_min_rank(i, 2);
  Shape diagonal = c.input(0).merged(c.input(1)).merged(c.input(2));
  const Shape& rhs = c.input(3);
  if (!diagonal.has_rank()) return c.set_output(0, rhs);
  if (diagonal[-2] != 1 && diagonal[-2] != kUnknown) {
    throw invalid_argument("each diagonal must have shape [..., 1, m]; got {}", diagonal.str());
  }
  Shape expected = batch_of(diagonal);
  expected.append(diagonal[-1]);
  expected.append(kUnknown);
  c.set_output(0, expected.merged(rhs));
}

struct Product {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t m = c.shape(3)[-2], k = c.shape(3)[-1];
    for (int64_t b = 0; b < matrix_count(c.shape(3)); ++b) {
      const T *above = c.input<T>(0) + b * m, *main = c.input<T>(1) + b * m, *below = c.input<T>(2) + b * m;
      const T* x = c.input<T>(3) + b * m * k;
      T* y = c.output<T>() + b * m * k;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < k; ++j) {
          T sum = main[i] * x[i * k + j];
          if (i + 1 < m) sum += above[i] * x[(i + 1) * k + j];
          if (i > 0) sum += below[i] * x[(i - 1) * k + j];
          y[i * k + j] = sum;
        }
      }
    }
  }
};

void product_gradient(GradContext& c) {
  const bool complex = is_complex(c.input(3).dtype());
  auto conjugated = [&](const Output& x) { return complex ? conj(x) : x; };
  Output grad = c.output_grad(), rhs = conjugated(c.input(3));
  auto diagonal = [&](int i) { return conjugated(matrix_transpose(c.input(i))); };
  c.set_input_grad(0, expand_dims(reduce_sum(shifted(rhs, true) * grad, -1), -2));
  c.set_input_grad(1, expand_dims(reduce_sum(rhs * grad, -1), -2));
  c.set_input_grad(2, expand_dims(reduce_sum(shifted(rhs, false) * grad, -1), -2));
  c.set_input_grad(3, shifted(diagonal(0) * grad, false) + diagonal(1) * grad + shifted(diagonal(2) * grad, true));
}

}  // namespace

OpDef tridiagonal_solve_op() {
  return {.name = "TridiagonalSolve",
          .inputs = "diagonals:T; rhs:T",
          .outputs = "output:T",
          .attrs = "partial_pivoting:bool=True; T:type{double,float,complex64,complex128}",
          .infer = infer_solve_tridiagonal,
          .gradient = solve_gradient,
          .cpu = {.select = kernel_for<MatrixTypes, Solve>, .prepare = prepared<prepare>}};
}

OpDef tridiagonal_mat_mul_op() {
  return {.name = "TridiagonalMatMul",
          .inputs = "superdiag:T; maindiag:T; subdiag:T; rhs:T",
          .outputs = "output:T",
          .attrs = "T:type{double,float,complex64,complex128}",
          .infer = infer_product,
          .gradient = product_gradient,
          .cpu = {.select = kernel_for<MatrixTypes, Product>}};
}

}  // namespace weir::ops

namespace weir {

Output tridiagonal_solve(const In& diagonals, const In& rhs, bool partial_pivoting, std::string_view name) {
  return NodeBuilder("TridiagonalSolve", name)
      .input(diagonals)
      .input(rhs)
      .attr("partial_pivoting", partial_pivoting)
      .output();
}
Output tridiagonal_mat_mul(const In& superdiag, const In& maindiag, const In& subdiag, const In& rhs,
                           std::string_view name) {
  return NodeBuilder("TridiagonalMatMul", name).input(superdiag).input(maindiag).input(subdiag).input(rhs).output();
}

}  // namespace weir
