#include <cmath>

#include "devices/cpu/update.h"
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

  void operator()(const std::array<T*, 3>& data, const T* grad, int64_t n) const {
    auto [var, ms, mom] = data;
    for (int64_t i = 0; i < n; ++i) {
      const Wide<T> g = grad[i];
      const Wide<T> square = ms[i] + (g * g - ms[i]) * (1 - rho);
      const Wide<T> move = mom[i] * momentum + g * lr / std::sqrt(square + epsilon);
      ms[i] = static_cast<T>(square);
      mom[i] = static_cast<T>(move);
      var[i] = static_cast<T>(var[i] - move);
    }
  }
};

struct Dense {
  template <class T>
  static void run(KernelContext& c) {
    if constexpr (std::is_same_v<T, float>) {
      const Step<T> step(c, 3);
      update_dense(c, float32, 3, 7, [&](void* const* data, int64_t n) {
        cpu::apply_rms_prop(
            static_cast<float*>(data[0]), static_cast<float*>(data[1]), static_cast<float*>(data[2]), c.input<float>(7),
            n, {.lr = step.lr, .rho = step.rho, .momentum = step.momentum, .epsilon = step.epsilon}, c.pool());
      });
    } else {
      ApplyDense<Step, 3, 4>::run<T>(c);
    }
  }
};

constexpr Kernel kDense = {.select = kernel_for<FloatTypes, Dense>};
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, ApplySparse<Step, 3, 4>>};

}  // namespace

OpDef apply_rms_prop_op() {
  return apply_ref_row("ApplyRMSProp", "var:Ref(T); ms:Ref(T); mom:Ref(T); lr:T; rho:T; momentum:T; epsilon:T; grad:T",
                       kApplyAttrs, kDense);
}

OpDef resource_apply_rms_prop_op() {
  return apply_resource_row("ResourceApplyRMSProp",
                            "var:resource; ms:resource; mom:resource; lr:T; rho:T; momentum:T; epsilon:T; grad:T",
                            kApplyAttrs, kDense);
}

OpDef sparse_apply_rms_prop_op() {
  return apply_ref_row(
      "SparseApplyRMSProp",
      "var:Ref(T); ms:Ref(T); mom:Ref(T); lr:T; rho:T; momentum:T; epsilon:T; grad:T; indices:Tindices",
      kSparseApplyAttrs, kSparse);
}

OpDef resource_sparse_apply_rms_prop_op() {
  return apply_resource_row("ResourceSparseApplyRMSProp",
                            "var:resource; ms:resource; mom:resource; lr:T; rho:T; momentum:T; epsilon:T; grad:T; "
                            "indices:Tindices",
                            kSparseApplyAttrs, kSparse);
}

}  // namespace weir::ops
