#include "graph/grad_context.h"
#include "ops/linalg/matrices.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

struct Nothing {};

Nothing prepare(PrepareContext& c) {
  const size_t n = static_cast<size_t>(c.input(0)[-1]);
  c.set_scratch(n * n * sizeof(std::complex<double>));
  return {};
}

double real_part(double x) { return x; }
double real_part(std::complex<double> x) { return x.real(); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = PreciseOf<T>;
    const int64_t n = c.shape(0)[-1], count = matrix_count(c.shape(0));
    auto* l = static_cast<W*>(c.scratch());
    for (int64_t b = 0; b < count; ++b) {
      load(c.input<T>(0) + b * n * n, n, n, false, l);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          W sum = l[i * n + j];
          for (int64_t k = 0; k < j; ++k) sum -= l[i * n + k] * conjugate(l[j * n + k]);
          if (i != j) {
            l[i * n + j] = sum / l[j * n + j];
          } else if (real_part(sum) > 0) {
            l[i * n + i] = std::sqrt(real_part(sum));
          } else {
            c.fail("Cholesky decomposition was not successful. The input might not be valid.");
          }
        }
        for (int64_t j = i + 1; j < n; ++j) l[i * n + j] = 0;
      }
      store(l, n * n, c.output<T>() + b * n * n);
    }
  }
};

// Murray, "Differentiation of the Cholesky decomposition", 2016.
void gradient(GradContext& c) {
  Output l = c.output(0);
  Output rows = subscript(shape(l), {-1});
  Output batch = subscript(shape(l), {until(-2)});
  Output ones_diagonal;
  {
    Scope scope = c.graph().name_scope("eye");
    Output size = minimum(rows, rows);
    Output sizes = concat({batch, stack({size}, 0, "concat/values_1")}, 0);
    ones_diagonal = matrix_diag(ones(c.graph(), sizes, l.dtype()));
  }
  Output inverse = matrix_triangular_solve(l, ones_diagonal);
  Output middle = matmul(l, c.output_grad(), {.adjoint_a = true});
  Output diagonal = matrix_diag_part(middle);
  middle = matrix_band_part(matrix_set_diag(middle, 0.5 * diagonal), -1, 0);
  Output grad = matmul(matmul(inverse, middle, {.adjoint_a = true}), inverse);
  Output other = matrix_transpose(is_complex(l.dtype()) ? conj(grad) : grad);
  c.set_input_grad(0, (grad + other) * 0.5);
}

}  // namespace

OpDef cholesky_op() {
  return {.name = "Cholesky",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = kMatrixTypes,
          .infer = infer_square_result,
          .gradient = gradient,
          .cpu = {.select = kernel_for<MatrixTypesWithHalf, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output cholesky(const In& input, std::string_view name) { return NodeBuilder("Cholesky", name).input(input).output(); }

}  // namespace weir
