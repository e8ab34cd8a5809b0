#include <cmath>

#include "devices/cpu/update.h"
#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  bool nesterov;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("use_nesterov")}; }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = Wide<T>;
    const W beta1_power = wide_scalar<T>(c, 3), beta2_power = wide_scalar<T>(c, 4), lr = wide_scalar<T>(c, 5);
    const W beta1 = wide_scalar<T>(c, 6), beta2 = wide_scalar<T>(c, 7), epsilon = wide_scalar<T>(c, 8);
    const W rate = lr * std::sqrt(1 - beta2_power) / (1 - beta1_power);
    const bool nesterov = c.state<State>().nesterov;
    if constexpr (std::is_same_v<T, float>) {
      update_dense(c, float32, 3, 9, [&](void* const* data, int64_t n) {
        cpu::apply_adam(static_cast<float*>(data[0]), static_cast<float*>(data[1]), static_cast<float*>(data[2]),
                        c.input<float>(9), n,
                        {.lr = lr,
                         .beta1 = beta1,
                         .beta2 = beta2,
                         .epsilon = epsilon,
                         .beta1_power = beta1_power,
                         .beta2_power = beta2_power,
                         .nesterov = nesterov},
                        c.pool());
      });
      return;
    }
    update_blocks<T, 3>(c, 9, [&](const auto& data, int64_t begin, int64_t end) {
      const T* grad = c.input<T>(9);
      for (int64_t i = begin; i < end; ++i) {
        const W g = grad[i];
        const W m = data[1][i] + (g - data[1][i]) * (1 - beta1);
        const W v = data[2][i] + (g * g - data[2][i]) * (1 - beta2);
        data[1][i] = static_cast<T>(m);
        data[2][i] = static_cast<T>(v);
        const W direction = nesterov ? g * (1 - beta1) + beta1 * m : m;
        data[0][i] = static_cast<T>(data[0][i] - direction * rate / (std::sqrt(v) + epsilon));
      }
    });
  }
};

constexpr Kernel kKernel = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>};
constexpr std::string_view kAttrs = "T:numbertype; use_locking:bool=False; use_nesterov:bool=False";

}  // namespace

OpDef apply_adam_op() {
  return {.name = "ApplyAdam",
          .inputs =
              "var:Ref(T); m:Ref(T); v:Ref(T); beta1_power:T; beta2_power:T; lr:T; beta1:T; beta2:T; epsilon:T; "
              "grad:T",
          .outputs = "out:Ref(T)",
          .attrs = kAttrs,
          .infer = infer_apply,
          .cpu = kKernel};
}

OpDef resource_apply_adam_op() {
  return {.name = "ResourceApplyAdam",
          .inputs =
              "var:resource; m:resource; v:resource; beta1_power:T; beta2_power:T; lr:T; beta1:T; beta2:T; "
              "epsilon:T; grad:T",
          .attrs = kAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kKernel};
}

}  // namespace weir::ops
