#include "ops/math/product.h"

#include <algorithm>

#include "base/errors.h"
#include "devices/cpu/gemm.h"
#include "ops/flops.h"

namespace weir::ops {
namespace {

// The dimensions before the last two.
Shape batch_shape(const Shape& shape) { return Shape(shape.dims().first(static_cast<size_t>(shape.rank() - 2))); }

template <class T>
cpu::Gemm<T> gemm_of(const Product& p, const T* a, const T* b, T* c, int64_t batch) {
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .a = a,
          .lda = p.transpose_a ? p.m : p.k,
          .transpose_a = p.transpose_a,
          .b = b,
          .ldb = p.transpose_b ? p.k : p.n,
          .transpose_b = p.transpose_b,
          .c = c,
          .ldc = p.n,
          .batch = batch,
          .stride_a = p.batches.moves(0) ? p.m * p.k : 0,
          .stride_b = p.batches.moves(1) ? p.k * p.n : 0,
          .stride_c = p.m * p.n};
}

template <class T>
void tuned(const Product& p, const T* a, const T* b, T* c, void* scratch, ThreadPool& pool) {
  p.batches.for_each_piece(0, p.batches.elements(), [&](const int64_t* at, int64_t to, int64_t batch) {
    cpu::gemm(pool, gemm_of(p, a + at[0] * p.m * p.k, b + at[1] * p.k * p.n, c + to * p.m * p.n, batch), scratch);
  });
}

template <class T>
T element(T x, bool conjugated) {
  if constexpr (kIsComplex<T>) {
    return conjugated ? std::conj(x) : x;
  } else {
    return x;
  }
}

// Row by row, for types that need no speed.
template <class T>
void plain(const Product& p, const T* a, const T* b, T* c, ThreadPool& pool) {
  const int64_t a_row = p.transpose_a ? 1 : p.k, a_column = p.transpose_a ? p.m : 1;
  const int64_t b_row = p.transpose_b ? 1 : p.n, b_column = p.transpose_b ? p.k : 1;
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, p.n * p.k));
  p.batches.for_each_piece(0, p.batches.elements(), [&](const int64_t* at, int64_t to, int64_t batch) {
    const int64_t a_step = p.batches.moves(0), b_step = p.batches.moves(1);
    pool.parallel_for(batch * p.m, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t i = r / p.m, row = r % p.m;
        const T* left = a + (at[0] + i * a_step) * p.m * p.k + row * a_row;
        const T* right = b + (at[1] + i * b_step) * p.k * p.n;
        T* result = c + (to + i) * p.m * p.n + row * p.n;
        std::fill_n(result, p.n, T(0));
        for (int64_t k = 0; k < p.k; ++k) {
          const T factor = element(left[k * a_column], p.adjoint_a);
          for (int64_t j = 0; j < p.n; ++j) {
            result[j] =
                wrapping_add(result[j], wrapping_mul(factor, element(right[k * b_row + j * b_column], p.adjoint_b)));
          }
        }
      }
    });
  });
}

size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

MatrixDims product_dims(const Shape& a, const Shape& b, const ProductFlags& flags) {
  const int64_t rows = a[flags.transpose_a ? -1 : -2], inner_a = a[flags.transpose_a ? -2 : -1];
  const int64_t columns = b[flags.transpose_b ? -2 : -1], inner_b = b[flags.transpose_b ? -1 : -2];
  if (inner_a != inner_b && inner_a != kUnknown && inner_b != kUnknown) {
    throw invalid_argument(
        "Dimensions must be equal, but are {} and {}: Matrix size-incompatible, inner dimensions differ: {}{} x {}{} "
        "(In[0] x In[1])",
        inner_a, inner_b, a.str(), flags.transpose_a ? " transposed" : "", b.str(),
        flags.transpose_b ? " transposed" : "");
  }
  return {rows, columns};
}

Product prepare_product(PrepareContext& c, const ProductFlags& flags) {
  const Shape &a = c.input(0), &b = c.input(1), &y = c.output();
  const Shape a_batch = batch_shape(a), b_batch = batch_shape(b);
  const Shape* operands[] = {&a_batch, &b_batch};
  Product p{.m = y[-2],
            .n = y[-1],
            .k = a[flags.transpose_a ? -2 : -1],
            .transpose_a = flags.transpose_a,
            .transpose_b = flags.transpose_b,
            .adjoint_a = flags.adjoint && flags.transpose_a,
            .adjoint_b = flags.adjoint && flags.transpose_b,
            .batches = BroadcastPlan(operands, batch_shape(y))};
  const int64_t batch = p.batches.row();
  const DType dtype = c.node().type();
  if (dtype == float64) {
    c.set_scratch(cpu::gemm_scratch_bytes(gemm_of<double>(p, nullptr, nullptr, nullptr, batch), c.threads()));
  } else if (is_floating(dtype)) {
    size_t bytes = cpu::gemm_scratch_bytes(gemm_of<float>(p, nullptr, nullptr, nullptr, batch), c.threads());
    if (dtype != float32) {  // room for the operands and the result as float
      bytes = rounded(bytes);
      for (const Shape* shape : {&a, &b, &y}) bytes += rounded(static_cast<size_t>(shape->elements()) * sizeof(float));
    }
    c.set_scratch(bytes);
  }
  return p;
}

template <class T>
void ProductKernel::run(KernelContext& c) {
  const Product& p = c.state<Product>();
  const T *a = c.input<T>(0), *b = c.input<T>(1);
  T* y = c.output<T>();
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    tuned(p, a, b, y, c.scratch(), c.pool());
  } else if constexpr (kIsNarrowFloat<T>) {
    std::byte* free = static_cast<std::byte*>(c.scratch());
    auto take = [&](int64_t elements) {
      float* taken = reinterpret_cast<float*>(free);
      free += rounded(static_cast<size_t>(elements) * sizeof(float));
      return taken;
    };
    float *wide_a = take(c.elements(0)), *wide_b = take(c.elements(1)), *wide_y = take(c.output_elements());
    auto convert = [&](int64_t n, auto body) {
      c.pool().parallel_for(n, 32768, [&](int64_t begin, int64_t end) { body(begin, end - begin); });
    };
    convert(c.elements(0), [&](int64_t i, int64_t n) { widen(a + i, wide_a + i, n); });
    convert(c.elements(1), [&](int64_t i, int64_t n) { widen(b + i, wide_b + i, n); });
    tuned(p, wide_a, wide_b, wide_y, free, c.pool());
    convert(c.output_elements(), [&](int64_t i, int64_t n) { narrow(wide_y + i, y + i, n); });
  } else {
    plain(p, a, b, y, c.pool());
  }
}

ComputeFn select_product(const NodeView& node) {
  using List = decltype(FloatTypes{} + Types<int32_t, int64_t>{} + ComplexTypes{});
  return kernel_for<List, ProductKernel>(node);
}

namespace {

Product prepare_batch(PrepareContext& c) {
  return prepare_product(c,
                         {.transpose_a = c.attr<bool>("adj_x"), .transpose_b = c.attr<bool>("adj_y"), .adjoint = true});
}

}  // namespace

OpDef batch_mat_mul_def(std::string_view name, void (*infer)(InferContext&), void (*gradient)(GradContext&)) {
  return {.name = name,
          .inputs = "x:T; y:T",
          .outputs = "output:T",
          .attrs =
              "T:type{bfloat16,half,float,double,int32,int64,complex64,complex128}; adj_x:bool=False; "
              "adj_y:bool=False",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = select_product, .prepare = prepared<prepare_batch>},
          .source = Source::Product,
          .flops = batch_product_flops};
}

void batch_mat_mul_gradient(GradContext& c, bool broadcasts) {
  Output x = c.input(0), y = c.input(1), grad = c.output_grad();
  bool adj_x = c.attr<bool>("adj_x"), adj_y = c.attr<bool>("adj_y");
  Output x_grad =
      adj_x ? matmul(y, grad, {.adjoint_a = adj_y, .adjoint_b = true}) : matmul(grad, y, {.adjoint_b = !adj_y});
  Output y_grad =
      adj_y ? matmul(grad, x, {.adjoint_a = true, .adjoint_b = adj_x}) : matmul(x, grad, {.adjoint_a = !adj_x});
  if (broadcasts &&
      !(x.shape().is_known() && y.shape().is_known() && batch_shape(x.shape()) == batch_shape(y.shape()))) {
    Output x_shape = shape(x), y_shape = shape(y);
    auto batch = [](const Output& s) { return strided_slice(s, {0}, {-2}, {1}, {.begin_mask = 1}); };
    Output x_batch = batch(x_shape), y_batch = batch(y_shape);
    auto [x_axes, y_axes] = broadcast_gradient_args(x_batch, y_batch);
    x_grad = reshape(reduce_sum(x_grad, x_axes), x_shape);
    y_grad = reshape(reduce_sum(y_grad, y_axes), y_shape);
  }
  c.set_input_grad(0, x_grad);
  c.set_input_grad(1, y_grad);
}

}  // namespace weir::ops
