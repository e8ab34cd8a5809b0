#include "graph/grad_context.h"
#include "ops/linalg/matrices.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

struct State {
  bool adjoint;
};

State prepare(PrepareContext& c) {
  const size_t n = static_cast<size_t>(c.input(0)[-1]), m = static_cast<size_t>(c.input(1)[-1]);
  c.set_scratch((n * n + n * m) * sizeof(std::complex<double>) + n * sizeof(int64_t));
  return {c.attr<bool>("adjoint")};
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = PreciseOf<T>;
    const int64_t n = c.shape(0)[-1], m = c.shape(1)[-1], count = matrix_count(c.shape(0));
    auto* a = static_cast<W*>(c.scratch());
    auto* x = a + n * n;
    auto* order = reinterpret_cast<int64_t*>(x + n * m);
    for (int64_t b = 0; b < count; ++b) {
      load(c.input<T>(0) + b * n * n, n, n, c.state<State>().adjoint, a);
      if (n > 0 && factor(a, order, n) == 0) c.fail("Input matrix is not invertible.");
      const T* rhs = c.input<T>(1) + b * n * m;
      for (int64_t i = 0; i < n; ++i) load(rhs + order[i] * m, 1, m, false, x + i * m);
      solve_triangular(a, n, true, true, x, m);
      solve_triangular(a, n, false, false, x, m);
      store(x, n * m, c.output<T>() + b * n * m);
    }
  }
};

void gradient(GradContext& c) {
  const bool adjoint = c.attr<bool>("adjoint");
  Output x = c.output(0);
  Output rhs_grad = matrix_solve(c.input(0), c.output_grad(), {.adjoint = !adjoint});
  c.set_input_grad(0, adjoint ? -matmul(x, rhs_grad, {.adjoint_b = true}) : -matmul(rhs_grad, x, {.adjoint_b = true}));
  c.set_input_grad(1, rhs_grad);
}

}  // namespace

OpDef matrix_solve_op() {
  return {.name = "MatrixSolve",
          .inputs = "matrix:T; rhs:T",
          .outputs = "output:T",
          .attrs = "adjoint:bool=False; T:type{double,float,half,complex64,complex128}",
          .infer = infer_solve,
          .gradient = gradient,
          .cpu = {.select = kernel_for<MatrixTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output matrix_solve(const In& matrix, const In& rhs, const AdjointOption& options, std::string_view name) {
  return NodeBuilder("MatrixSolve", name).input(matrix).input(rhs).attr("adjoint", options.adjoint).output();
}

}  // namespace weir
