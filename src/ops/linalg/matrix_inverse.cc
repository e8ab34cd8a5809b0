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
  const size_t n = static_cast<size_t>(c.input(0)[-1]);
  c.set_scratch(2 * n * n * sizeof(std::complex<double>) + n * sizeof(int64_t));
  return {c.attr<bool>("adjoint")};
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = PreciseOf<T>;
    const int64_t n = c.shape(0)[-1], count = matrix_count(c.shape(0));
    auto* a = static_cast<W*>(c.scratch());
    auto* x = a + n * n;
    auto* order = reinterpret_cast<int64_t*>(x + n * n);
    for (int64_t b = 0; b < count; ++b) {
      load(c.input<T>(0) + b * n * n, n, n, c.state<State>().adjoint, a);
      if (n > 0 && factor(a, order, n) == 0) c.fail("Input is not invertible.");
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) x[i * n + j] = order[i] == j ? 1 : 0;
      }
      solve_triangular(a, n, true, true, x, n);
      solve_triangular(a, n, false, false, x, n);
      store(x, n * n, c.output<T>() + b * n * n);
    }
  }
};

void gradient(GradContext& c) {
  Output inverse = c.output(0);
  Output right = matmul(c.output_grad(), inverse, {.adjoint_b = true});
  c.set_input_grad(0, -matmul(inverse, right, {.adjoint_a = true}));
}

}  // namespace

OpDef matrix_inverse_op() {
  return {.name = "MatrixInverse",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = "adjoint:bool=False; T:type{double,float,half,complex64,complex128}",
          .infer = infer_square_result,
          .gradient = gradient,
          .cpu = {.select = kernel_for<MatrixTypesWithHalf, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output matrix_inverse(const In& input, const AdjointOption& options, std::string_view name) {
  return NodeBuilder("MatrixInverse", name).input(input).attr("adjoint", options.adjoint).output();
}

}  // namespace weir
