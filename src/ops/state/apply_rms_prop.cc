#include <cmath>

#include "devices/cpu/update.h"
#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

template <class T>
struct Step {
  Wide<T> lr, rho, momentum, epsilon;

  explicit Step(const KernelContext& c)
      : lr(wide_scalar<T>(c, 3)),
        rho(wide_scalar<T>(c, 4)),
        momentum(wide_scalar<T>(c, 5)),
        epsilon(wide_scalar<T>(c, 6)) {}

  void operator()(T* var, T* ms, T* mom, const T* grad, int64_t n) const {
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
    const Step<T> step(c);
    if constexpr (std::is_same_v<T, float>) {
      update_dense(c, float32, 3, 7, [&](void* const* data, int64_t n) {
        cpu::apply_rms_prop(
            static_cast<float*>(data[0]), static_cast<float*>(data[1]), static_cast<float*>(data[2]), c.input<float>(7),
            n, {.lr = step.lr, .rho = step.rho, .momentum = step.momentum, .epsilon = step.epsilon}, c.pool());
      });
      return;
    }
    update_blocks<T, 3>(c, 7, [&](const auto& data, int64_t begin, int64_t end) {
      step(data[0] + begin, data[1] + begin, data[2] + begin, c.input<T>(7) + begin, end - begin);
    });
  }
};

struct Sparse {
  template <class T>
  static void run(KernelContext& c) {
    const Step<T> step(c);
    update_typed_rows<T, 3>(
        c, 7, 8, [&](const auto& rows, const T* grad, int64_t n) { step(rows[0], rows[1], rows[2], grad, n); });
  }
};

constexpr Kernel kDense = {.select = kernel_for<FloatTypes, Dense>};
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, Sparse>};

constexpr std::string_view kDenseAttrs = "T:numbertype; use_locking:bool=False";
constexpr std::string_view kSparseAttrs = "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False";

}  // namespace

OpDef apply_rms_prop_op() {
  return {.name = "ApplyRMSProp",
          .inputs = "var:Ref(T); ms:Ref(T); mom:Ref(T); lr:T; rho:T; momentum:T; epsilon:T; grad:T",
          .outputs = "out:Ref(T)",
          .attrs = kDenseAttrs,
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef resource_apply_rms_prop_op() {
  return {.name = "ResourceApplyRMSProp",
          .inputs = "var:resource; ms:resource; mom:resource; lr:T; rho:T; momentum:T; epsilon:T; grad:T",
          .attrs = kDenseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef sparse_apply_rms_prop_op() {
  return {.name = "SparseApplyRMSProp",
          .inputs = "var:Ref(T); ms:Ref(T); mom:Ref(T); lr:T; rho:T; momentum:T; epsilon:T; grad:T; indices:Tindices",
          .outputs = "out:Ref(T)",
          .attrs = kSparseAttrs,
          .infer = infer_apply,
          .cpu = kSparse};
}

OpDef resource_sparse_apply_rms_prop_op() {
  return {.name = "ResourceSparseApplyRMSProp",
          .inputs =
              "var:resource; ms:resource; mom:resource; lr:T; rho:T; momentum:T; epsilon:T; grad:T; "
              "indices:Tindices",
          .attrs = kSparseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kSparse};
}

}  // namespace weir::ops
