#include <cmath>

#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// Follow the regularised leader. Version 2 adds a pull towards 0 (l2_shrinkage) that does not count in `accum`.
template <class T, bool kShrinkage>
struct Step {
  Wide<T> lr, l1, l2, l2_shrinkage = 0, lr_power;

  Step(const KernelContext& c, int first)
      : lr(wide_scalar<T>(c, first)),
        l1(wide_scalar<T>(c, first + 1)),
        l2(wide_scalar<T>(c, first + 2)),
        l2_shrinkage(kShrinkage ? wide_scalar<T>(c, first + 3) : 0),
        lr_power(wide_scalar<T>(c, first + 3 + kShrinkage)) {}

  // accum ^ -lr_power, which is nearly always a square root.
  Wide<T> power(Wide<T> accum) const {
    return lr_power == Wide<T>(-0.5) ? std::sqrt(accum) : std::pow(accum, -lr_power);
  }

  void operator()(T* var, T* accum, T* linear, const T* grad, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      const Wide<T> g = grad[i], v = var[i], before = accum[i], after = before + g * g;
      const Wide<T> root = power(after);
      const Wide<T> z = linear[i] + (g + 2 * l2_shrinkage * v) - (root - power(before)) / lr * v;
      accum[i] = static_cast<T>(after);
      linear[i] = static_cast<T>(z);
      var[i] = static_cast<T>(std::abs(z) > l1 ? (std::copysign(l1, z) - z) / (root / lr + 2 * l2) : Wide<T>(0));
    }
  }
};

template <bool kShrinkage>
struct Dense {
  template <class T>
  static void run(KernelContext& c) {
    const Step<T, kShrinkage> step(c, 4);
    update_blocks<T, 3>(c, 3, [&](const auto& data, int64_t begin, int64_t end) {
      step(data[0] + begin, data[1] + begin, data[2] + begin, c.input<T>(3) + begin, end - begin);
    });
  }
};

template <bool kShrinkage>
struct Sparse {
  template <class T>
  static void run(KernelContext& c) {
    const Step<T, kShrinkage> step(c, 5);
    update_typed_rows<T, 3>(
        c, 3, 4, [&](const auto& rows, const T* grad, int64_t n) { step(rows[0], rows[1], rows[2], grad, n); });
  }
};

template <bool kShrinkage>
constexpr Kernel kDense = {.select = kernel_for<FloatTypes, Dense<kShrinkage>>};
template <bool kShrinkage>
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, Sparse<kShrinkage>>};

constexpr std::string_view kDenseAttrs = "T:numbertype; use_locking:bool=False";
constexpr std::string_view kSparseAttrs = "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False";

}  // namespace

OpDef apply_ftrl_op() {
  return {.name = "ApplyFtrl",
          .inputs = "var:Ref(T); accum:Ref(T); linear:Ref(T); grad:T; lr:T; l1:T; l2:T; lr_power:T",
          .outputs = "out:Ref(T)",
          .attrs = kDenseAttrs,
          .infer = infer_apply,
          .cpu = kDense<false>};
}

OpDef resource_apply_ftrl_op() {
  return {.name = "ResourceApplyFtrl",
          .inputs = "var:resource; accum:resource; linear:resource; grad:T; lr:T; l1:T; l2:T; lr_power:T",
          .attrs = kDenseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kDense<false>};
}

OpDef sparse_apply_ftrl_op() {
  return {.name = "SparseApplyFtrl",
          .inputs = "var:Ref(T); accum:Ref(T); linear:Ref(T); grad:T; indices:Tindices; lr:T; l1:T; l2:T; lr_power:T",
          .outputs = "out:Ref(T)",
          .attrs = kSparseAttrs,
          .infer = infer_apply,
          .cpu = kSparse<false>,
          .rows = Rows::Written};
}

OpDef resource_sparse_apply_ftrl_op() {
  return {.name = "ResourceSparseApplyFtrl",
          .inputs =
              "var:resource; accum:resource; linear:resource; grad:T; indices:Tindices; lr:T; l1:T; l2:T; "
              "lr_power:T",
          .attrs = kSparseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kSparse<false>,
          .rows = Rows::Written};
}

OpDef apply_ftrl_v2_op() {
  return {.name = "ApplyFtrlV2",
          .inputs = "var:Ref(T); accum:Ref(T); linear:Ref(T); grad:T; lr:T; l1:T; l2:T; l2_shrinkage:T; lr_power:T",
          .outputs = "out:Ref(T)",
          .attrs = kDenseAttrs,
          .infer = infer_apply,
          .cpu = kDense<true>};
}

OpDef resource_apply_ftrl_v2_op() {
  return {.name = "ResourceApplyFtrlV2",
          .inputs =
              "var:resource; accum:resource; linear:resource; grad:T; lr:T; l1:T; l2:T; l2_shrinkage:T; "
              "lr_power:T",
          .attrs = kDenseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kDense<true>};
}

OpDef sparse_apply_ftrl_v2_op() {
  return {.name = "SparseApplyFtrlV2",
          .inputs =
              "var:Ref(T); accum:Ref(T); linear:Ref(T); grad:T; indices:Tindices; lr:T; l1:T; l2:T; "
              "l2_shrinkage:T; lr_power:T",
          .outputs = "out:Ref(T)",
          .attrs = kSparseAttrs,
          .infer = infer_apply,
          .cpu = kSparse<true>,
          .rows = Rows::Written};
}

OpDef resource_sparse_apply_ftrl_v2_op() {
  return {.name = "ResourceSparseApplyFtrlV2",
          .inputs =
              "var:resource; accum:resource; linear:resource; grad:T; indices:Tindices; lr:T; l1:T; l2:T; "
              "l2_shrinkage:T; lr_power:T",
          .attrs = kSparseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kSparse<true>,
          .rows = Rows::Written};
}

}  // namespace weir::ops
