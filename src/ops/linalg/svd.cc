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
  const Shape& a = c.input(0);
  const bool vectors = c.attr<bool>("compute_uv"), full = c.attr<bool>("full_matrices");
  if (!vectors) {
    c.set_output(1, Shape{0});
    c.set_output(2, Shape{0});
  }
  if (!a.has_rank()) return;
  const int64_t m = a[-2], n = a[-1], least = m == kUnknown || n == kUnknown ? kUnknown : std::min(m, n);
  Shape s = batch_of(a), u = s, v = s;
  s.append(least);
  c.set_output(0, s);
  if (!vectors) return;
  u.append(m);
  u.append(full ? m : least);
  v.append(n);
  v.append(full ? n : least);
  c.set_output(1, u);
  c.set_output(2, v);
}

struct State {
  bool vectors, full;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("compute_uv"), c.attr<bool>("full_matrices")}; }

template <class W>
void set_identity(W* to, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows * columns; ++i) to[i] = i / columns == i % columns ? 1 : 0;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = PreciseOf<T>;
    const auto [vectors, full] = c.state<State>();
    const int64_t m = c.shape(0)[-2], n = c.shape(0)[-1], least = std::min(m, n);
    const int64_t u_size = vectors ? m * (full ? m : least) : 0, v_size = vectors ? n * (full ? n : least) : 0;
    c.pool().parallel_for(matrix_count(c.shape(0)), 1, [&](int64_t begin, int64_t end) {
      std::vector<W> a(static_cast<size_t>(m * n)), u(static_cast<size_t>(u_size)), v(static_cast<size_t>(v_size));
      std::vector<double> s(static_cast<size_t>(least));
      for (int64_t b = begin; b < end; ++b) {
        if (least == 0) {
          if (u_size) set_identity(u.data(), m, m);
          if (v_size) set_identity(v.data(), n, n);
        } else {
          load(c.input<T>(0) + b * m * n, m, n, false, a.data());
          dense::svd(a.data(), m, n, full, s.data(), vectors ? u.data() : nullptr, vectors ? v.data() : nullptr);
        }
        for (int64_t i = 0; i < least; ++i) {
          c.output<T>(0)[b * least + i] = narrowed<T>(W(s[static_cast<size_t>(i)]));
        }
        if (!vectors) continue;
        store(u.data(), u_size, c.output<T>(1) + b * u_size);
        store(v.data(), v_size, c.output<T>(2) + b * v_size);
      }
    });
  }
};

Output adjoint_of(const Output& x) { return matrix_transpose(is_complex(x.dtype()) ? conj(x) : x); }
Output columns(const Output& x, int64_t begin, int64_t end) {
  return subscript(x, {kEllipsis, kAll, between(begin, end)});
}

// Giles, "An extended collection of matrix derivative results", 2008; Townsend, "Differentiating the singular value
// decomposition", 2016. Not defined where singular values are equal.
void gradient(GradContext& c) {
  Output a = c.input(0), s_grad = matrix_diag(c.output_grad(0));
  if (!c.attr<bool>("compute_uv")) {
    Svd all = svd(a);
    return c.set_input_grad(0, matmul(all.u, matmul(s_grad, all.v, {.adjoint_b = true})));
  }
  const bool full = c.attr<bool>("full_matrices");
  if (is_complex(a.dtype())) {
    throw error(Code::Unimplemented, "SVD gradient is not implemented for complex types and compute_uv=True.");
  }
  Output s = c.output(0), u = c.output(1), v = c.output(2), u_grad = c.output_grad(1), v_grad = c.output_grad(2);
  int64_t m = a.shape().has_rank() ? a.shape()[-2] : kUnknown, n = a.shape().has_rank() ? a.shape()[-1] : kUnknown;
  if (m == kUnknown || n == kUnknown) {
    throw error(Code::Unimplemented,
                "SVD gradient has not been implemented for input with unknown inner matrix shape.");
  }
  if (full && std::abs(m - n) > 1) {
    throw error(Code::Unimplemented, "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True");
  }
  const bool tall = m > n;  // then that of the transpose
  if (tall) {
    std::swap(m, n);
    std::swap(u, v);
    std::swap(u_grad, v_grad);
  }
  Output s_diag = matrix_diag(s), squares = square(s);
  Output apart = expand_dims(squares, -2) - expand_dims(squares, -1);
  // Ones on the diagonal keep the second derivative finite.
  Output f = matrix_set_diag(reciprocal(matrix_set_diag(apart, ones_like(s))), zeros_like(s));
  Output v1 = columns(v, 0, m), v1_grad = columns(v_grad, 0, m);
  Output f_u = f * matmul(u, u_grad, {.adjoint_a = true}), f_v = f * matmul(v1, v1_grad, {.adjoint_a = true});
  Output inner = s_grad + matmul(f_u + adjoint_of(f_u), s_diag) + matmul(s_diag, f_v + adjoint_of(f_v));
  Output grad = matmul(u, matmul(inner, v1, {.adjoint_b = true}));
  if (m != n) {
    Output v1_grad_t = adjoint_of(v1_grad);
    Output outside = v1_grad_t - matmul(matmul(v1_grad_t, v1), v1, {.adjoint_b = true});
    if (full) {
      Output v2 = columns(v, m, n), v2_grad = columns(v_grad, m, n);
      outside = outside - matmul(matmul(v1, v2_grad, {.adjoint_a = true}), v2, {.adjoint_b = true});
    }
    grad = grad + matmul(matmul(u, matrix_diag(reciprocal(s))), outside);
  }
  c.set_input_grad(0, tall ? adjoint_of(grad) : grad);
}

}  // namespace

OpDef svd_op() {
  return {.name = "Svd",
          .inputs = "input:T",
          .outputs = "s:T; u:T; v:T",
          .attrs = "compute_uv:bool=True; full_matrices:bool=False; T:type{double,float,half,complex64,complex128}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<MatrixTypesWithHalf, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Svd svd(const In& tensor, const SvdOptions& options, std::string_view name) {
  Operation op = NodeBuilder("Svd", name)
                     .input(tensor)
                     .attr("compute_uv", options.compute_uv)
                     .attr("full_matrices", options.full_matrices)
                     .build();
  return {op.output(0), op.output(1), op.output(2)};
}

}  // namespace weir
