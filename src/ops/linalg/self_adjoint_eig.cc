#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/linalg/dense.h"
#include "ops/linalg/matrices.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape a = infer_square(c, 0);
  const bool vectors = c.attr<bool>("compute_v");
  if (!vectors) c.set_output(1, Shape{0});
  if (!a.has_rank()) return;
  Shape e = batch_of(a);
  e.append(a[-1]);
  c.set_output(0, e);
  if (vectors) c.set_output(1, a);
}

// One row of eigenvalues above the eigenvectors.
void infer_first(InferContext& c) {
  Shape a = infer_square(c, 0);
  if (!a.has_rank()) return;
  if (a[-1] != kUnknown) a.set_dim(-2, checked_add(a[-1], 1));
  c.set_output(0, a);
}

struct State {
  bool vectors;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("compute_v")}; }

// Calls store_results(matrix, eigenvalues, eigenvectors) for each.
template <class T, class Store>
void decompose(KernelContext& c, bool vectors, const Store& store_results) {
  using W = PreciseOf<T>;
  const int64_t n = c.shape(0)[-1];
  if (n == 0) return;
  c.pool().parallel_for(matrix_count(c.shape(0)), 1, [&](int64_t begin, int64_t end) {
    std::vector<W> a(static_cast<size_t>(n * n)), v(static_cast<size_t>(vectors ? n * n : 0));
    std::vector<double> e(static_cast<size_t>(n));
    for (int64_t b = begin; b < end; ++b) {
      load(c.input<T>(0) + b * n * n, n, n, false, a.data());
      if (!dense::self_adjoint_eig(a.data(), n, e.data(), vectors ? v.data() : nullptr)) {
        c.fail("Self-adjoint eigen decomposition was not successful. The input might not be valid.");
      }
      store_results(b, e.data(), v.data());
    }
  });
}

template <class T>
void store_numbers(const double* from, int64_t n, T* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = narrowed<T>(PreciseOf<T>(from[i]));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t n = c.shape(0)[-1];
    const bool vectors = c.state<State>().vectors;
    decompose<T>(c, vectors, [&](int64_t b, const double* e, const PreciseOf<T>* v) {
      store_numbers(e, n, c.output<T>(0) + b * n);
      if (vectors) store(v, n * n, c.output<T>(1) + b * n * n);
    });
  }
};

struct First {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t n = c.shape(0)[-1];
    decompose<T>(c, true, [&](int64_t b, const double* e, const PreciseOf<T>* v) {
      T* out = c.output<T>() + b * (n + 1) * n;
      store_numbers(e, n, out);
      store(v, n * n, out + n);
    });
  }
};

Output adjoint_of(const Output& x) { return matrix_transpose(is_complex(x.dtype()) ? conj(x) : x); }

// The operation reads the lower half, so the gradient lies there. Not defined where eigenvalues are equal.
void gradient(GradContext& c) {
  Output e = c.output(0), inner = matrix_diag(c.output_grad(0)), v;
  if (c.attr<bool>("compute_v")) {
    v = c.output(1);
    Output apart = expand_dims(e, -2) - expand_dims(e, -1);
    Output f = matrix_set_diag(reciprocal(apart), zeros_like(e));
    inner = inner + f * matmul(v, c.output_grad(1), {.adjoint_a = true});
  } else {
    v = self_adjoint_eig(c.input(0)).v;
  }
  Output grad = matmul(v, matmul(inner, v, {.adjoint_b = true}));
  grad = matrix_band_part(grad + adjoint_of(grad), -1, 0);
  c.set_input_grad(0, matrix_set_diag(grad, 0.5 * matrix_diag_part(grad)));
}

}  // namespace

OpDef self_adjoint_eig_v2_op() {
  return {.name = "SelfAdjointEigV2",
          .inputs = "input:T",
          .outputs = "e:T; v:T",
          .attrs = "compute_v:bool=True; T:type{double,float,half,complex64,complex128}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<MatrixTypesWithHalf, Cpu>, .prepare = prepared<prepare>}};
}

OpDef self_adjoint_eig_op() {
  return {.name = "SelfAdjointEig",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = "T:type{double,float,half}",
          .flags = "deprecated@11",
          .infer = infer_first,
          .cpu = {.select = kernel_for<Types<float, double>, First>}};
}

}  // namespace weir::ops

namespace weir {

SelfAdjointEig self_adjoint_eig(const In& tensor, bool compute_v, std::string_view name) {
  Operation op = NodeBuilder("SelfAdjointEigV2", name).input(tensor).attr("compute_v", compute_v).build();
  return {op.output(0), op.output(1)};
}

}  // namespace weir
