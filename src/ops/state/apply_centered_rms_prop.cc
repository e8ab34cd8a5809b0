#include <cmath>

#include "ops/state/apply.h"

namespace weir::ops {
namespace {

template <class T>
struct Step {
  Wide<T> lr, rho, momentum, epsilon;

  Step(const KernelContext& c, int first)
      : lr(wide_scalar<T>(c, first)),
        rho(wide_scalar<T>(c, first + 1)),
        momentum(wide_scalar<T>(c, first + 2)),
        epsilon(wide_scalar<T>(c, first + 3)) {}

  void operator()(const std::array<T*, 4>& data, const T* grad, int64_t n) const {
    auto [var, mg, ms, mom] = data;
    for (int64_t i = 0; i < n; ++i) {
      const Wide<T> g = grad[i];
      const Wide<T> square = ms[i] + (g * g - ms[i]) * (1 - rho);
      const Wide<T> mean = mg[i] + (g - mg[i]) * (1 - rho);
      const Wide<T> move = mom[i] * momentum + g * lr / std::sqrt(square - mean * mean + epsilon);
      ms[i] = static_cast<T>(square);
      mg[i] = static_cast<T>(mean);
      mom[i] = static_cast<T>(move);
      var[i] = static_cast<T>(var[i] - move);
    }
  }
};

constexpr Kernel kDense = {.select = kernel_for<FloatTypes, ApplyDense<Step, 4, 4>>};
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, ApplySparse<Step, 4, 4>>};

}  // namespace

OpDef apply_centered_rms_prop_op() {
  return apply_ref_row("ApplyCenteredRMSProp",
                       "var:Ref(T); mg:Ref(T); ms:Ref(T); mom:Ref(T); lr:T; rho:T; momentum:T; epsilon:T; grad:T",
                       kApplyAttrs, kDense);
}

OpDef resource_apply_centered_rms_prop_op() {
  return apply_resource_row("ResourceApplyCenteredRMSProp",
                            "var:resource; mg:resource; ms:resource; mom:resource; lr:T; rho:T; momentum:T; epsilon:T; "
                            "grad:T",
                            kApplyAttrs, kDense);
}

OpDef sparse_apply_centered_rms_prop_op() {
  return apply_ref_row("SparseApplyCenteredRMSProp",
                       "var:Ref(T); mg:Ref(T); ms:Ref(T); mom:Ref(T); lr:T; rho:T; momentum:T; epsilon:T; grad:T; "
                       "indices:Tindices",
                       kSparseApplyAttrs, kSparse);
}

OpDef resource_sparse_apply_centered_rms_prop_op() {
  return apply_resource_row(
      "ResourceSparseApplyCenteredRMSProp",
      "var:resource; mg:resource; ms:resource; mom:resource; lr:T; rho:T; momentum:T; epsilon:T; grad:T; "
      "indices:Tindices",
      kSparseApplyAttrs, kSparse);
}

}  // namespace weir::ops
