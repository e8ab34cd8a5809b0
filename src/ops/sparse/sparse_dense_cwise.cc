#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/math/functors.h"
#include "ops/sparse/sparse.h"
#include "weir/ops.h"
#include "weir/sparse_ops.h"

// The values of a sparse tensor with those of a dense one at the same places, which broadcasts to its shape.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  infer_sparse_input(c, 0);
  c.set_output(0, c.input(1));
}

enum class How { Add, Mul, Div };

// Steps of the dense tensor along the dimensions of the sparse one; zero where it is stretched.
std::vector<int64_t> dense_strides(const Coordinates& sparse, const Shape& dense) {
  std::vector<int64_t> strides(static_cast<size_t>(sparse.rank));
  bool fits = dense.rank() <= sparse.rank;
  int64_t stride = 1;
  for (int d = 1; fits && d <= dense.rank(); ++d) {
    const int64_t size = dense[-d];
    fits = size == 1 || size == sparse.dims[sparse.rank - d];
    strides[static_cast<size_t>(sparse.rank - d)] = size == 1 ? 0 : stride;
    stride *= size;
  }
  if (!fits) {
    throw invalid_argument(
        "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: [{}] vs. {}",
        shape_text(sparse.dims, sparse.rank), dense.str());
  }
  return strides;
}

template <How kHow>
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = Wide<T>;
    const Coordinates sparse(c, 0, 2);
    const std::vector<int64_t> strides = dense_strides(sparse, c.shape(3));
    for (int64_t i = 0; i < sparse.count; ++i) {
      int64_t at = 0;
      for (int64_t d = 0; d < sparse.rank; ++d) at += sparse.row(i)[d] * strides[static_cast<size_t>(d)];
      const W x(c.input<T>(1)[i]), y(c.input<T>(3)[at]);
      if constexpr (kHow == How::Add) c.output<T>()[i] = static_cast<T>(wrapping_add(x, y));
      if constexpr (kHow == How::Mul) c.output<T>()[i] = static_cast<T>(wrapping_mul(x, y));
      if constexpr (kHow == How::Div) {
        if constexpr (kIsInteger<T>) {
          if (y == 0) throw invalid_argument("Integer division by zero");
        }
        c.output<T>()[i] = static_cast<T>(wrapping_div(x, y));
      }
    }
  }
};

template <bool kMul>
void gradient(GradContext& c) {
  Output indices = c.input(0), x = c.input(1), x_shape = c.input(2), y = c.input(3), grad = c.output_grad();
  Output y_shape = shape(y, int64);
  Output added = expand_dims(size(x_shape) - size(y_shape), 0);
  Output padded = concat({ones(c.graph(), added, int64), y_shape}, 0);
  Output places = slice(floordiv(indices, floordiv(x_shape, padded)), concat({{0}, added}, 0), {-1, -1});
  Output dense = gather_nd(y, places);
  c.set_input_grad(1, kMul ? grad * dense : grad / dense);
  Output y_values = kMul ? grad * x : grad * (-x / square(dense));
  c.set_input_grad(3, scatter_nd(places, y_values, y_shape));
}

OpDef row_of(std::string_view name, Kernel cpu) {
  return {.name = name,
          .inputs = "sp_indices:int64; sp_values:T; sp_shape:int64; dense:T",
          .outputs = "output:T",
          .attrs = "T:numbertype",
          .infer = infer,
          .cpu = cpu};
}

}  // namespace

OpDef sparse_dense_cwise_add_op() {
  return row_of("SparseDenseCwiseAdd", {.select = kernel_for<NumberTypes, Cpu<How::Add>>});
}
OpDef sparse_dense_cwise_mul_op() {
  OpDef row = row_of("SparseDenseCwiseMul", {.select = kernel_for<NumberTypes, Cpu<How::Mul>>});
  row.gradient = gradient<true>;
  return row;
}
OpDef sparse_dense_cwise_div_op() {
  OpDef row = row_of("SparseDenseCwiseDiv", {.select = kernel_for<NumberTypes, Cpu<How::Div>>});
  row.gradient = gradient<false>;
  return row;
}

}  // namespace weir::ops
