#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/math/functors.h"
#include "ops/types.h"
#include "weir/index_ops.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// A sparse matrix (indices [n, 2], values [n], shape [2]) times a dense one.
void infer(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 1);
  c.require_rank(2, 1);
  c.require_rank(3, 2);
  const Shape& indices = c.input(0);
  const Shape entries = indices.has_rank() ? Shape{indices[0]} : Shape{kUnknown};
  if ((indices.has_rank() && indices[1] != 2 && indices[1] != kUnknown) || !entries.compatible(c.input(1))) {
    throw invalid_argument("values of shape {} at indices of shape {}", c.input(1).str(), indices.str());
  }
  Shape a = shape_argument(c, 2), b = c.input(3);
  if (!a.has_rank()) a = Shape::unknown_dims(2);
  if (!b.has_rank()) b = Shape::unknown_dims(2);
  if (a.rank() != 2) throw invalid_argument("a_shape must have 2 elements; it has {}", a.rank());
  const bool adjoint_a = c.attr<bool>("adjoint_a"), adjoint_b = c.attr<bool>("adjoint_b");
  const int64_t inner_a = a[adjoint_a ? 0 : 1], inner_b = b[adjoint_b ? 1 : 0];
  if (inner_a != kUnknown && inner_b != kUnknown && inner_a != inner_b) {
    throw invalid_argument("Dimensions must be equal: inner dimensions differ: {} x {}", a.str(), b.str());
  }
  c.set_output(0, Shape{a[adjoint_a ? 1 : 0], b[adjoint_b ? 0 : 1]});
}

struct State {
  bool adjoint_a, adjoint_b;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("adjoint_a"), c.attr<bool>("adjoint_b")}; }

template <class T>
T conjugated(T x) {
  if constexpr (kIsComplex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

// One element of the sparse matrix after the other: they may share rows of the result.
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto [adjoint_a, adjoint_b] = c.state<State>();
    const int64_t rows = c.output_shape()[0], columns = c.output_shape()[1];
    const int64_t inner = c.shape(3)[adjoint_b ? 1 : 0], stride = c.shape(3)[1];
    const T *values = c.input<T>(1), *b = c.input<T>(3);
    T* out = c.output<T>();
    std::fill_n(out, rows * columns, T());
    for (int64_t i = 0; i < c.elements(1); ++i) {
      const int64_t m = int_at(c, 0, 2 * i + (adjoint_a ? 1 : 0)), k = int_at(c, 0, 2 * i + (adjoint_a ? 0 : 1));
      if (m < 0 || m >= rows || k < 0 || k >= inner) {
        throw invalid_argument("index {} of a is out of bounds: ({}, {}) of [{}, {}]", i, m, k, rows, inner);
      }
      const auto a = static_cast<Wide<T>>(adjoint_a ? conjugated(values[i]) : values[i]);
      for (int64_t j = 0; j < columns; ++j) {
        const auto x = static_cast<Wide<T>>(adjoint_b ? conjugated(b[j * stride + k]) : b[k * stride + j]);
        T& sum = out[m * columns + j];
        sum = static_cast<T>(wrapping_add(static_cast<Wide<T>>(sum), wrapping_mul(a, x)));
      }
    }
  }
};

void gradient(GradContext& c) {
  const bool adjoint_a = c.attr<bool>("adjoint_a"), adjoint_b = c.attr<bool>("adjoint_b");
  Output indices = c.input(0), values = c.input(1), b = c.input(3), grad = c.output_grad();
  Output b_grad = NodeBuilder("SparseTensorDenseMatMul")
                      .input(indices)
                      .input(values)
                      .input(c.input(2))
                      .input(grad)
                      .attr("adjoint_a", !adjoint_a)
                      .output();
  const bool complex = is_complex(values.dtype());
  if (adjoint_b) b_grad = matrix_transpose(complex ? conj(b_grad) : b_grad);
  Output rows = subscript(indices, {kAll, 0}), columns = subscript(indices, {kAll, 1});
  Output of_grad = gather(grad, adjoint_a ? columns : rows);
  Output of_b = gather(adjoint_b ? transpose(b) : (complex ? conj(b) : b), adjoint_a ? rows : columns);
  Output products = reduce_sum(of_grad * of_b, 1);
  c.set_input_grad(1, complex && adjoint_a ? conj(products) : products);
  c.set_input_grad(3, b_grad);
}

}  // namespace

OpDef sparse_tensor_dense_mat_mul_op() {
  return {.name = "SparseTensorDenseMatMul",
          .inputs = "a_indices:Tindices; a_values:T; a_shape:int64; b:T",
          .outputs = "product:T",
          .attrs = "T:type; Tindices:type{int32,int64}=int64; adjoint_a:bool=False; adjoint_b:bool=False",
          .host = "a_shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<decltype(Types<float, double, BFloat16, int32_t>{} + ComplexTypes{}), Cpu>,
                  .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output sparse_tensor_dense_matmul(const SparseMatrix& a, const In& b, const AdjointOptions& options,
                                  std::string_view name) {
  return NodeBuilder("SparseTensorDenseMatMul", name)
      .input(a.indices)
      .input(a.values)
      .input(a.dense_shape)
      .input(b)
      .attr("adjoint_a", options.adjoint_a)
      .attr("adjoint_b", options.adjoint_b)
      .output();
}

}  // namespace weir
