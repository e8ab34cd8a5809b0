#include "devices/cpu/update.h"
#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const Wide<T> alpha = wide_scalar<T>(c, 1);
    if constexpr (std::is_same_v<T, float>) {
      update_dense(c, float32, 1, 2, [&](void* const* data, int64_t n) {
        cpu::apply_gradient_descent(static_cast<float*>(data[0]), c.input<float>(2), n, alpha, c.pool());
      });
      return;
    }
    update_blocks<T, 1>(c, 2, [&](const auto& data, int64_t begin, int64_t end) {
      const T* delta = c.input<T>(2);
      for (int64_t i = begin; i < end; ++i) data[0][i] = static_cast<T>(data[0][i] - alpha * delta[i]);
    });
  }
};

constexpr Kernel kKernel = {.select = kernel_for<FloatTypes, Cpu>};

}  // namespace

OpDef apply_gradient_descent_op() {
  return {.name = "ApplyGradientDescent",
          .inputs = "var:Ref(T); alpha:T; delta:T",
          .outputs = "out:Ref(T)",
          .attrs = "T:numbertype; use_locking:bool=False",
          .infer = infer_apply,
          .cpu = kKernel};
}

OpDef resource_apply_gradient_descent_op() {
  return {.name = "ResourceApplyGradientDescent",
          .inputs = "var:resource; alpha:T; delta:T",
          .attrs = "T:numbertype; use_locking:bool=False",
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kKernel};
}

}  // namespace weir::ops
