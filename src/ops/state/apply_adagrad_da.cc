#include <algorithm>
#include <cmath>

#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

template <class T>
struct Step {
  Wide<T> lr, l1, l2, steps;

  Step(const KernelContext& c, int first)
      : lr(wide_scalar<T>(c, first)),
        l1(wide_scalar<T>(c, first + 1)),
        l2(wide_scalar<T>(c, first + 2)),
        steps(static_cast<Wide<T>>(c.scalar<int64_t>(first + 3))) {}

  // Dual averaging: the variable follows from the sums of gradients and of their squares alone.
  void operator()(T* var, T* sum, T* squares, const T* grad, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      const Wide<T> g = grad[i], total = sum[i] + g, square = squares[i] + g * g;
      sum[i] = static_cast<T>(total);
      squares[i] = static_cast<T>(square);
      const Wide<T> shrunk = l1 > 0 ? std::copysign(std::max(std::abs(total) - l1 * steps, Wide<T>(0)), total) : total;
      var[i] = static_cast<T>(-lr * shrunk / (l2 * steps * lr + std::sqrt(square)));
    }
  }
};

struct Dense {
  template <class T>
  static void run(KernelContext& c) {
    const Step<T> step(c, 4);
    update_blocks<T, 3>(c, 3, [&](const auto& data, int64_t begin, int64_t end) {
      step(data[0] + begin, data[1] + begin, data[2] + begin, c.input<T>(3) + begin, end - begin);
    });
  }
};

struct Sparse {
  template <class T>
  static void run(KernelContext& c) {
    const Step<T> step(c, 5);
    update_typed_rows<T, 3>(
        c, 3, 4, [&](const auto& rows, const T* grad, int64_t n) { step(rows[0], rows[1], rows[2], grad, n); });
  }
};

constexpr Kernel kDense = {.select = kernel_for<FloatTypes, Dense>};
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, Sparse>};

constexpr std::string_view kDenseAttrs = "T:numbertype; use_locking:bool=False";
constexpr std::string_view kSparseAttrs = "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False";

}  // namespace

OpDef apply_adagrad_da_op() {
  return {.name = "ApplyAdagradDA",
          .inputs =
              "var:Ref(T); gradient_accumulator:Ref(T); gradient_squared_accumulator:Ref(T); grad:T; lr:T; l1:T; "
              "l2:T; global_step:int64",
          .outputs = "out:Ref(T)",
          .attrs = kDenseAttrs,
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef resource_apply_adagrad_da_op() {
  return {.name = "ResourceApplyAdagradDA",
          .inputs =
              "var:resource; gradient_accumulator:resource; gradient_squared_accumulator:resource; grad:T; lr:T; "
              "l1:T; l2:T; global_step:int64",
          .attrs = kDenseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef sparse_apply_adagrad_da_op() {
  return {.name = "SparseApplyAdagradDA",
          .inputs =
              "var:Ref(T); gradient_accumulator:Ref(T); gradient_squared_accumulator:Ref(T); grad:T; "
              "indices:Tindices; lr:T; l1:T; l2:T; global_step:int64",
          .outputs = "out:Ref(T)",
          .attrs = kSparseAttrs,
          .infer = infer_apply,
          .cpu = kSparse,
          .rows = Rows::Written};
}

OpDef resource_sparse_apply_adagrad_da_op() {
  return {.name = "ResourceSparseApplyAdagradDA",
          .inputs =
              "var:resource; gradient_accumulator:resource; gradient_squared_accumulator:resource; grad:T; "
              "indices:Tindices; lr:T; l1:T; l2:T; global_step:int64",
          .attrs = kSparseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kSparse,
          .rows = Rows::Written};
}

}  // namespace weir::ops
