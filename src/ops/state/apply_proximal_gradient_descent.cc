#include "ops/state/apply.h"
#include "ops/state/proximal.h"

namespace weir::ops {
namespace {

template <class T>
struct Step {
  Wide<T> alpha, l1, l2;

  Step(const KernelContext& c, int first)
      : alpha(wide_scalar<T>(c, first)), l1(wide_scalar<T>(c, first + 1)), l2(wide_scalar<T>(c, first + 2)) {}

  void operator()(const std::array<T*, 1>& data, const T* grad, int64_t n) const {
    T* var = data[0];
    for (int64_t i = 0; i < n; ++i) {
      const Wide<T> moved = var[i] - alpha * grad[i];
      var[i] = static_cast<T>(proximal<Wide<T>>(moved, alpha, l1, l2));
    }
  }
};

constexpr Kernel kDense = {.select = kernel_for<FloatTypes, ApplyDense<Step, 1, 3>>};
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, ApplySparse<Step, 1, 3>>};

}  // namespace

OpDef apply_proximal_gradient_descent_op() {
  return apply_ref_row("ApplyProximalGradientDescent", "var:Ref(T); alpha:T; l1:T; l2:T; delta:T", kApplyAttrs, kDense);
}

OpDef resource_apply_proximal_gradient_descent_op() {
  return apply_resource_row("ResourceApplyProximalGradientDescent", "var:resource; alpha:T; l1:T; l2:T; delta:T",
                            kApplyAttrs, kDense);
}

OpDef sparse_apply_proximal_gradient_descent_op() {
  return apply_ref_row("SparseApplyProximalGradientDescent",
                       "var:Ref(T); alpha:T; l1:T; l2:T; grad:T; indices:Tindices", kSparseApplyAttrs, kSparse);
}

OpDef resource_sparse_apply_proximal_gradient_descent_op() {
  return apply_resource_row("ResourceSparseApplyProximalGradientDescent",
                            "var:resource; alpha:T; l1:T; l2:T; grad:T; indices:Tindices", kSparseApplyAttrs, kSparse);
}

}  // namespace weir::ops
