#include "graph/grad_context.h"
#include "ops/linalg/matrices.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

struct State {
  bool lower, adjoint;
};

State prepare(PrepareContext& c) {
  const size_t n = static_cast<size_t>(c.input(0)[-1]), m = static_cast<size_t>(c.input(1)[-1]);
  c.set_scratch((n * n + n * m) * sizeof(std::complex<double>));
  return {c.attr<bool>("lower"), c.attr<bool>("adjoint")};
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = PreciseOf<T>;
    const auto [lower, adjoint] = c.state<State>();
    const int64_t n = c.shape(0)[-1], m = c.shape(1)[-1], count = matrix_count(c.shape(0));
    auto* a = static_cast<W*>(c.scratch());
    auto* x = a + n * n;
    for (int64_t b = 0; b < count; ++b) {
      load(c.input<T>(0) + b * n * n, n, n, adjoint, a);
      for (int64_t i = 0; i < n; ++i) {
        if (a[i * n + i] == W(0)) c.fail("Input matrix is not invertible.");
      }
      load(c.input<T>(1) + b * n * m, n, m, false, x);
      solve_triangular(a, n, lower != adjoint, false, x, m);
      store(x, n * m, c.output<T>() + b * n * m);
    }
  }
};

void gradient(GradContext& c) {
  const bool lower = c.attr<bool>("lower"), adjoint = c.attr<bool>("adjoint");
  Output x = c.output(0);
  Output rhs_grad = matrix_triangular_solve(c.input(0), c.output_grad(), {.lower = lower, .adjoint = !adjoint});
  Output full = adjoint ? -matmul(x, rhs_grad, {.adjoint_b = true}) : -matmul(rhs_grad, x, {.adjoint_b = true});
  c.set_input_grad(0, lower ? matrix_band_part(full, -1, 0) : matrix_band_part(full, 0, -1));
  c.set_input_grad(1, rhs_grad);
}

}  // namespace

OpDef matrix_triangular_solve_op() {
  return {.name = "MatrixTriangularSolve",
          .inputs = "matrix:T; rhs:T",
          .outputs = "output:T",
          .attrs = "lower:bool=True; adjoint:bool=False; T:type{double,float,half,complex64,complex128}",
          .infer = infer_solve,
          .gradient = gradient,
          .cpu = {.select = kernel_for<MatrixTypesWithHalf, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output matrix_triangular_solve(const In& matrix, const In& rhs, const TriangularSolveOptions& options,
                               std::string_view name) {
  return NodeBuilder("MatrixTriangularSolve", name)
      .input(matrix)
      .input(rhs)
      .attr("lower", options.lower)
      .attr("adjoint", options.adjoint)
      .output();
}

}  // namespace weir
