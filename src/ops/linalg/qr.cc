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
  if (!a.has_rank()) return;
  const int64_t m = a[-2], n = a[-1], least = m == kUnknown || n == kUnknown ? kUnknown : std::min(m, n);
  const int64_t inner = c.attr<bool>("full_matrices") ? m : least;
  Shape q = batch_of(a), r = q;
  q.append(m);
  q.append(inner);
  r.append(inner);
  r.append(n);
  c.set_output(0, q);
  c.set_output(1, r);
}

struct State {
  bool full;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("full_matrices")}; }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = PreciseOf<T>;
    const bool full = c.state<State>().full;
    const int64_t m = c.shape(0)[-2], n = c.shape(0)[-1], inner = full ? m : std::min(m, n);
    c.pool().parallel_for(matrix_count(c.shape(0)), 1, [&](int64_t begin, int64_t end) {
      std::vector<W> a(static_cast<size_t>(m * n)), q(static_cast<size_t>(m * inner)),
          r(static_cast<size_t>(inner * n));
      for (int64_t b = begin; b < end; ++b) {
        load(c.input<T>(0) + b * m * n, m, n, false, a.data());
        if (n > 0) {
          dense::qr(a.data(), m, n, full, q.data(), r.data());
        } else {
          for (int64_t i = 0; i < m * inner; ++i) q[static_cast<size_t>(i)] = i / inner == i % inner ? 1 : 0;
        }
        store(q.data(), m * inner, c.output<T>(0) + b * m * inner);
        store(r.data(), inner * n, c.output<T>(1) + b * inner * n);
      }
    });
  }
};

Output adjoint_of(const Output& x) { return matrix_transpose(x); }  // of real matrices

// x times the inverse of r's transpose.
Output solve_from_the_right(const Output& x, const Output& r) {
  return adjoint_of(matrix_triangular_solve(r, adjoint_of(x), {.lower = false}));
}

void gradient(GradContext& c) {
  Output q = c.output(0), r = c.output(1), q_grad = c.output_grad(0), r_grad = c.output_grad(1);
  if (is_complex(q.dtype())) {
    throw error(Code::Unimplemented, "QrGrad not implemented for dtype: {}", dtype_name(q.dtype()));
  }
  const Shape& shape = r.shape();
  if (!shape.has_rank() || shape[-2] == kUnknown || shape[-1] == kUnknown) {
    throw error(Code::Unimplemented, "QrGrad not implemented with dynamic shapes.");
  }
  if (shape[-2] != shape[-1]) {
    throw error(Code::Unimplemented,
                "QrGrad not implemented when ncols > nrows or full_matrices is true and ncols != nrows.");
  }
  Output q_part = matmul(q, q_grad, {.adjoint_a = true}), r_part = matmul(r, r_grad, {.adjoint_b = true});
  Output lower = matrix_band_part(q_part - adjoint_of(q_part) + (r_part - adjoint_of(r_part)), -1, 0);
  c.set_input_grad(
      0, matmul(q, r_grad + solve_from_the_right(lower, r)) + solve_from_the_right(q_grad - matmul(q, q_part), r));
}

}  // namespace

OpDef qr_op() {
  return {.name = "Qr",
          .inputs = "input:T",
          .outputs = "q:T; r:T",
          .attrs = "full_matrices:bool=False; T:type{double,float,half,complex64,complex128}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<MatrixTypesWithHalf, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Qr qr(const In& input, bool full_matrices, std::string_view name) {
  Operation op = NodeBuilder("Qr", name).input(input).attr("full_matrices", full_matrices).build();
  return {op.output(0), op.output(1)};
}

}  // namespace weir
