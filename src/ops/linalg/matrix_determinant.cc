#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/linalg/matrices.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  Shape shape = infer_square(c, 0);
  if (!shape.has_rank()) return;
  for (int i = 0; i < c.outputs(); ++i) c.set_output(i, batch_of(shape));
}

struct Nothing {};

Nothing prepare(PrepareContext& c) {
  const size_t n = static_cast<size_t>(c.input(0)[-1]);
  c.set_scratch(n * n * sizeof(std::complex<double>) + n * sizeof(int64_t));
  return {};
}

// Calls body(matrix, diagonal of U and its sign) for every matrix of the batch.
template <class T, class Body>
void for_each_factored(KernelContext& c, const Body& body) {
  using W = PreciseOf<T>;
  const int64_t n = c.shape(0)[-1], count = matrix_count(c.shape(0));
  auto* a = static_cast<W*>(c.scratch());
  auto* order = reinterpret_cast<int64_t*>(a + n * n);
  for (int64_t b = 0; b < count; ++b) {
    load(c.input<T>(0) + b * n * n, n, n, false, a);
    const int sign = factor(a, order, n);
    body(b, a, n, sign);
  }
}

struct Determinant {
  template <class T>
  static void run(KernelContext& c) {
    for_each_factored<T>(c, [&](int64_t b, const auto* lu, int64_t n, int sign) {
      PreciseOf<T> product(sign);
      for (int64_t i = 0; sign != 0 && i < n; ++i) product *= lu[i * n + i];
      const auto result = static_cast<T>(product);
      if (!std::isfinite(std::abs(result))) c.fail("The determinant is not finite.");
      c.output<T>()[b] = result;
    });
  }
};

struct Logarithm {
  template <class T>
  static void run(KernelContext& c) {
    for_each_factored<T>(c, [&](int64_t b, const auto* lu, int64_t n, int sign) {
      PreciseOf<T> direction(sign);
      double log_abs = sign == 0 ? -HUGE_VAL : 0;
      for (int64_t i = 0; sign != 0 && i < n; ++i) {
        const double size = std::abs(lu[i * n + i]);
        direction *= lu[i * n + i] / size;
        log_abs += std::log(size);
      }
      c.output<T>(0)[b] = static_cast<T>(direction);
      c.output<T>(1)[b] = static_cast<T>(PreciseOf<T>(log_abs));
    });
  }
};

// Both derivatives are the adjoint of the inverse, times a number for each matrix.
void determinant_gradient(GradContext& c) {
  Output inverse = matrix_inverse(c.input(0), {.adjoint = true});
  Output factors = c.output_grad() * c.output(0);
  c.set_input_grad(0, reshape(factors, concat({shape(c.output(0)), {1, 1}}, 0)) * inverse);
}

void logarithm_gradient(GradContext& c) {
  Output inverse = matrix_inverse(c.input(0), {.adjoint = true});
  c.set_input_grad(0, reshape(c.output_grad(1), concat({shape(c.output(1)), {1, 1}}, 0)) * inverse);
}

}  // namespace

OpDef matrix_determinant_op() {
  return {.name = "MatrixDeterminant",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = "T:type{half,float,double,complex64,complex128}",
          .infer = infer,
          .gradient = determinant_gradient,
          .cpu = {.select = kernel_for<MatrixTypes, Determinant>, .prepare = prepared<prepare>}};
}

OpDef log_matrix_determinant_op() {
  return {.name = "LogMatrixDeterminant",
          .inputs = "input:T",
          .outputs = "sign:T; log_abs_determinant:T",
          .attrs = "T:type{half,float,double,complex64,complex128}",
          .infer = infer,
          .gradient = logarithm_gradient,
          .cpu = {.select = kernel_for<MatrixTypes, Logarithm>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output matrix_determinant(const In& input, std::string_view name) {
  return NodeBuilder("MatrixDeterminant", name).input(input).output();
}

LogDeterminant log_matrix_determinant(const In& input, std::string_view name) {
  Operation op = NodeBuilder("LogMatrixDeterminant", name).input(input).build();
  return {op.output(0), op.output(1)};
}

}  // namespace weir
