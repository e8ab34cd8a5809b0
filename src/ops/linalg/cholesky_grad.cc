#include "graph/infer_context.h"
#include "ops/linalg/matrices.h"

namespace weir::ops {
namespace {

// The gradient of Cholesky as one operation, which graphs of TensorFlow before 1.5 have. With P the lower half of
// l^T grad, its diagonal halved: the symmetric part of l^-T P l^-1.
void infer(InferContext& c) {
  const Shape l = infer_square(c, 0), grad = infer_square(c, 1);
  c.set_output(0, l.merged(grad));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t n = c.shape(0)[-1], size = n * n;
    c.pool().parallel_for(matrix_count(c.shape(0)), 1, [&](int64_t begin, int64_t end) {
      std::vector<double> l(static_cast<size_t>(size)), l_t(l.size()), grad(l.size()), p(l.size());
      for (int64_t b = begin; b < end; ++b) {
        load(c.input<T>(0) + b * size, n, n, false, l.data());
        load(c.input<T>(0) + b * size, n, n, true, l_t.data());
        load(c.input<T>(1) + b * size, n, n, false, grad.data());
        halved_product(l.data(), grad.data(), n, p.data());
        solve_triangular(l_t.data(), n, false, false, p.data(), n);  // l^-T P
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < n; ++j) grad[static_cast<size_t>(j * n + i)] = p[static_cast<size_t>(i * n + j)];
        }
        solve_triangular(l_t.data(), n, false, false, grad.data(), n);  // (l^-T P l^-1)^T
        T* out = c.output<T>() + b * size;
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            const double sum = grad[static_cast<size_t>(i * n + j)] + grad[static_cast<size_t>(j * n + i)];
            out[i * n + j] = static_cast<T>(static_cast<Wide<T>>(sum / 2));
          }
        }
      }
    });
  }

 private:
  // Reads the lower halves of both.
  static void halved_product(const double* l, const double* grad, int64_t n, double* p) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t k = std::max(i, j); j <= i && k < n; ++k) sum += l[k * n + i] * grad[k * n + j];
        p[i * n + j] = i == j ? sum / 2 : sum;
      }
    }
  }
};

}  // namespace

OpDef cholesky_grad_op() {
  return {.name = "CholeskyGrad",
          .inputs = "l:T; grad:T",
          .outputs = "output:T",
          .attrs = "T:type{half,float,double}",
          .infer = infer,
          .cpu = {.select = kernel_for<Types<float, double>, Cpu>}};
}

}  // namespace weir::ops
