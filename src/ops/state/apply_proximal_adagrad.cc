#include <cmath>

#include "ops/state/apply.h"
#include "ops/state/proximal.h"

namespace weir::ops {
namespace {

template <class T>
struct Step {
  Wide<T> lr, l1, l2;

  Step(const KernelContext& c, int first)
      : lr(wide_scalar<T>(c, first)), l1(wide_scalar<T>(c, first + 1)), l2(wide_scalar<T>(c, first + 2)) {}

  void operator()(const std::array<T*, 2>& data, const T* grad, int64_t n) const {
    auto [var, accum] = data;
    for (int64_t i = 0; i < n; ++i) {
      const Wide<T> g = grad[i], square = accum[i] + g * g, rate = lr / std::sqrt(square);
      accum[i] = static_cast<T>(square);
      var[i] = static_cast<T>(proximal<Wide<T>>(var[i] - g * rate, rate, l1, l2));
    }
  }
};

constexpr Kernel kDense = {.select = kernel_for<FloatTypes, ApplyDense<Step, 2, 3>>};
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, ApplySparse<Step, 2, 3>>};

}  // namespace

OpDef apply_proximal_adagrad_op() {
  return apply_ref_row("ApplyProximalAdagrad", "var:Ref(T); accum:Ref(T); lr:T; l1:T; l2:T; grad:T", kApplyAttrs,
                       kDense);
}

OpDef resource_apply_proximal_adagrad_op() {
  return apply_resource_row("ResourceApplyProximalAdagrad", "var:resource; accum:resource; lr:T; l1:T; l2:T; grad:T",
                            kApplyAttrs, kDense);
}

OpDef sparse_apply_proximal_adagrad_op() {
  return apply_ref_row("SparseApplyProximalAdagrad",
                       "var:Ref(T); accum:Ref(T); lr:T; l1:T; l2:T; grad:T; indices:Tindices", kSparseApplyAttrs,
                       kSparse);
}

OpDef resource_sparse_apply_proximal_adagrad_op() {
  return apply_resource_row("ResourceSparseApplyProximalAdagrad",
                            "var:resource; accum:resource; lr:T; l1:T; l2:T; grad:T; indices:Tindices",
                            kSparseApplyAttrs, kSparse);
}

}  // namespace weir::ops
