#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/linalg/dense.h"
#include "ops/linalg/matrices.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

// Exponential, logarithm and square root of matrices.
namespace weir::ops {
namespace {

using Complex = std::complex<double>;

template <void (*function)(const Complex*, int64_t, Complex*)>
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t n = c.shape(0)[-1], size = n * n;
    c.pool().parallel_for(matrix_count(c.shape(0)), 1, [&](int64_t begin, int64_t end) {
      std::vector<Complex> a(static_cast<size_t>(size)), y(a.size());
      for (int64_t b = begin; b < end; ++b) {
        const T* from = c.input<T>(0) + b * size;
        T* to = c.output<T>() + b * size;
        for (int64_t i = 0; i < size; ++i) a[static_cast<size_t>(i)] = Complex(from[i]);
        function(a.data(), n, y.data());
        for (int64_t i = 0; i < size; ++i) to[i] = real_or_nan<T>(y[static_cast<size_t>(i)], n);
      }
    });
  }

 private:
  // A real matrix without a real root gives what no root is.
  template <class T>
  static T real_or_nan(Complex y, int64_t n) {
    if constexpr (kIsComplex<T>) {
      return T(y);
    } else {
      const double noise = 1e-8 * static_cast<double>(n) * std::max(1., std::abs(y.real()));
      return std::abs(y.imag()) <= noise ? static_cast<T>(y.real()) : std::numeric_limits<T>::quiet_NaN();
    }
  }
};

Output flat_kronecker(const Output& x, const Output& y, const Output& batch, const Output& n) {
  Output one = ones_like(n);
  Output left = reshape(x, concat({batch, stack({n, one, n, one})}, 0));
  Output right = reshape(y, concat({batch, stack({one, n, one, n})}, 0));
  return reshape(left * right, concat({batch, stack({n * n, n * n})}, 0));
}

// R R = A, so dA = R dR + dR R: a Sylvester equation, solved as a system of n * n numbers.
void root_gradient(GradContext& c) {
  Output root = c.output(0), sizes = shape(root);
  Output n = subscript(sizes, {-1}), batch = subscript(sizes, {until(-2)});
  Output identity_matrices = matrix_diag(ones_like(matrix_diag_part(root)));
  Output system = flat_kronecker(identity_matrices, matrix_transpose(root), batch, n) +
                  flat_kronecker(root, identity_matrices, batch, n);
  Output right = reshape(matrix_transpose(c.output_grad()), concat({batch, stack({n * n, ones_like(n)})}, 0));
  c.set_input_grad(0, matrix_transpose(reshape(matrix_solve(system, right), sizes)));
}

// exp [[A, E], [0, A]] has the derivative of exp in the direction E in its corner (Mathias, 1996).
void exponential_gradient(GradContext& c) {
  Output a = c.input(0), adjoint_a = adjoint(a);
  Output above = concat({adjoint_a, c.output_grad()}, -1), below = concat({zeros_like(a), adjoint_a}, -1);
  Output n = subscript(shape(a), {-1});
  c.set_input_grad(0, subscript(matrix_exponential(concat({above, below}, -2)), {kEllipsis, until(n), from(n)}));
}

OpDef row_of(std::string_view name, std::string_view attrs, Kernel cpu) {
  return {.name = name,
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = attrs,
          .infer = infer_square_result,
          .cpu = cpu};
}

}  // namespace

OpDef matrix_exponential_op() {
  OpDef row = row_of("MatrixExponential", kMatrixTypes, {.select = kernel_for<MatrixTypes, Cpu<dense::exponential>>});
  row.flags = "deprecated@27";
  row.gradient = exponential_gradient;
  return row;
}

OpDef matrix_logarithm_op() {
  return row_of("MatrixLogarithm", "T:type{complex64,complex128}",
                {.select = kernel_for<ComplexTypes, Cpu<dense::logarithm>>});
}

OpDef matrix_square_root_op() {
  OpDef row = row_of("MatrixSquareRoot", kMatrixTypes, {.select = kernel_for<MatrixTypes, Cpu<dense::square_root>>});
  row.gradient = root_gradient;
  return row;
}

}  // namespace weir::ops

namespace weir {

Output matrix_exponential(const In& input, std::string_view name) {
  return NodeBuilder("MatrixExponential", name).input(input).output();
}
Output matrix_logarithm(const In& input, std::string_view name) {
  return NodeBuilder("MatrixLogarithm", name).input(input).output();
}
Output matrix_square_root(const In& input, std::string_view name) {
  return NodeBuilder("MatrixSquareRoot", name).input(input).output();
}

}  // namespace weir
