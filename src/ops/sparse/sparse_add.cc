#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/math/functors.h"
#include "ops/sparse/merge.h"
#include "weir/ops.h"
#include "weir/sparse_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const int64_t a = infer_sparse_input(c, 0), b = infer_sparse_input(c, 3);
  c.require_scalar(6);
  set_sparse_output(c, 0, kUnknown, a == kUnknown ? b : a);
}

template <class T>
auto magnitude(T x) {
  if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else {
    return std::abs(x);
  }
}

// Sums below the threshold are left out; without one everything stays.
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = Wide<T>;
    constexpr auto kAny = Coordinates::Rows::kAny;
    const Coordinates a(c, 0, 2, kAny), b(c, 3, 5, kAny);
    check_same_shape(a, b);
    std::vector<int64_t> rows;
    std::vector<T> values;
    const double threshold = read_threshold(c);
    merge_rows(a, b, [&](const int64_t* row, int64_t i, int64_t j) {
      const W sum = wrapping_add(i < 0 ? W() : W(c.input<T>(1)[i]), j < 0 ? W() : W(c.input<T>(4)[j]));
      const auto value = static_cast<T>(sum);
      if (threshold > 0 && !(static_cast<double>(magnitude(W(value))) >= threshold)) return;
      rows.insert(rows.end(), row, row + a.rank);
      values.push_back(value);
    });
    const auto count = static_cast<int64_t>(values.size());
    c.set_output(0, index_tensor(rows, count, a.rank));
    c.set_output(1, Tensor(values));
    std::copy_n(a.dims, a.rank, c.output<int64_t>(2));
  }

 private:
  static double read_threshold(const KernelContext& c) {
    double threshold = 0;
    read_real(c, RealTypes{}, threshold);
    return threshold;
  }
  template <class... Ts>
  static void read_real(const KernelContext& c, Types<Ts...>, double& to) {
    (void)((c.dtype(6) == dtype_of<Ts> ? (to = static_cast<double>(Wide<Ts>(c.scalar<Ts>(6))), true) : false) || ...);
  }
};

void gradient(GradContext& c) {
  Operation grads = NodeBuilder("SparseAddGrad")
                        .input(c.output_grad(1))
                        .input(c.input(0))
                        .input(c.input(3))
                        .input(c.output(0))
                        .build();
  c.set_input_grad(1, grads.output(0));
  c.set_input_grad(4, grads.output(1));
}

void infer_grad(InferContext& c) {
  c.require_rank(0, 1);
  for (int i = 1; i < 4; ++i) c.require_rank(i, 2);
  for (int i = 1; i < 3; ++i) c.set_output(i - 1, Shape{c.input(i).has_rank() ? c.input(i)[0] : kUnknown});
}

// Each value gets the gradient of the sum at its place, if that sum was kept.
struct Grad {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t rank = c.shape(3)[1], sums = c.shape(3)[0];
    if (c.shape(1)[1] != rank || c.shape(2)[1] != rank) {
      throw invalid_argument("The densified operands should have the same ndims; got {}, {} and {}", c.shape(1)[1],
                             c.shape(2)[1], rank);
    }
    if (c.elements(0) != sums) {
      throw invalid_argument("# elements of backprop_val_grad and # rows of sum_indices should match: {} and {}",
                             c.elements(0), sums);
    }
    for (int part = 0; part < 2; ++part) {
      const int64_t *rows = c.input<int64_t>(part + 1), *sum_rows = c.input<int64_t>(3);
      int64_t at = 0;
      for (int64_t i = 0; i < c.shape(part + 1)[0]; ++i) {
        while (at < sums && Coordinates::compare(sum_rows + at * rank, rows + i * rank, rank) < 0) ++at;
        const bool kept = at < sums && Coordinates::compare(sum_rows + at * rank, rows + i * rank, rank) == 0;
        c.output<T>(part)[i] = kept ? c.input<T>(0)[at] : T();
      }
    }
  }
};

}  // namespace

OpDef sparse_add_op() {
  return {
      .name = "SparseAdd",
      .inputs = "a_indices:int64; a_values:T; a_shape:int64; b_indices:int64; b_values:T; b_shape:int64; thresh:Treal",
      .outputs = "sum_indices:int64; sum_values:T; sum_shape:int64",
      .attrs = "T:numbertype; Treal:realnumbertype",
      .infer = infer,
      .gradient = gradient,
      .cpu = {.select = kernel_for<NumberTypes, Cpu>}};
}

OpDef sparse_add_grad_op() {
  return {.name = "SparseAddGrad",
          .inputs = "backprop_val_grad:T; a_indices:int64; b_indices:int64; sum_indices:int64",
          .outputs = "a_val_grad:T; b_val_grad:T",
          .attrs = "T:numbertype",
          .infer = infer_grad,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<NumberTypes, Grad>}};
}

}  // namespace weir::ops

namespace weir {

SparseTensor sparse_add(const SparseInput& a, const SparseInput& b, const In& thresh, std::string_view name) {
  Operation op = NodeBuilder("SparseAdd", name)
                     .input(a.indices)
                     .input(a.values)
                     .input(a.dense_shape)
                     .input(b.indices)
                     .input(b.values)
                     .input(b.dense_shape)
                     .input(thresh)
                     .build();
  return {op.output(0), op.output(1), op.output(2)};
}

}  // namespace weir
