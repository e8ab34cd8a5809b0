#include <cmath>

#include "ops/state/apply.h"

namespace weir::ops {
namespace {

template <class T>
struct Step {
  Wide<T> lr, rho, epsilon;

  Step(const KernelContext& c, int first)
      : lr(wide_scalar<T>(c, first)), rho(wide_scalar<T>(c, first + 1)), epsilon(wide_scalar<T>(c, first + 2)) {}

  void operator()(const std::array<T*, 3>& data, const T* grad, int64_t n) const {
    auto [var, accum, accum_update] = data;
    for (int64_t i = 0; i < n; ++i) {
      const Wide<T> g = grad[i];
      const Wide<T> square = accum[i] * rho + g * g * (1 - rho);
      const Wide<T> move = std::sqrt(accum_update[i] + epsilon) / std::sqrt(square + epsilon) * g;
      accum[i] = static_cast<T>(square);
      accum_update[i] = static_cast<T>(accum_update[i] * rho + move * move * (1 - rho));
      var[i] = static_cast<T>(var[i] - move * lr);
    }
  }
};

constexpr Kernel kDense = {.select = kernel_for<FloatTypes, ApplyDense<Step, 3, 3>>};
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, ApplySparse<Step, 3, 3>>};

}  // namespace

OpDef apply_adadelta_op() {
  return apply_ref_row("ApplyAdadelta", "var:Ref(T); accum:Ref(T); accum_update:Ref(T); lr:T; rho:T; epsilon:T; grad:T",
                       kApplyAttrs, kDense);
}

OpDef resource_apply_adadelta_op() {
  return apply_resource_row("ResourceApplyAdadelta",
                            "var:resource; accum:resource; accum_update:resource; lr:T; rho:T; epsilon:T; grad:T",
                            kApplyAttrs, kDense);
}

OpDef sparse_apply_adadelta_op() {
  return apply_ref_row(
      "SparseApplyAdadelta",
      "var:Ref(T); accum:Ref(T); accum_update:Ref(T); lr:T; rho:T; epsilon:T; grad:T; indices:Tindices",
      kSparseApplyAttrs, kSparse);
}

OpDef resource_sparse_apply_adadelta_op() {
  return apply_resource_row("ResourceSparseApplyAdadelta",
                            "var:resource; accum:resource; accum_update:resource; lr:T; rho:T; epsilon:T; grad:T; "
                            "indices:Tindices",
                            kSparseApplyAttrs, kSparse);
}

}  // namespace weir::ops
