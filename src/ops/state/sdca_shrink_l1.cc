#include <cmath>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/state/variable_state.h"
#include "ops/types.h"

// Draws weights towards zero, by the strength of the L1 regularisation over that of L2.
namespace weir::ops {
namespace {

void cpu(KernelContext& c) {
  const double l1 = c.node().attr<float>("l1"), l2 = c.node().attr<float>("l2");
  const auto shrinkage = static_cast<float>(l1 / l2);
  for (int i = 0; i < c.inputs(); ++i) {
    c.variable(i).update([&](Tensor& weights) {
      auto* w = weights.mutable_data<float>();
      for (int64_t k = 0; k < weights.elements(); ++k)
        w[k] = std::copysign(std::max(std::abs(w[k]) - shrinkage, 0.0f), w[k]);
    });
  }
}

}  // namespace

OpDef sdca_shrink_l1_op() {
  return {.name = "SdcaShrinkL1",
          .inputs = "weights:Ref(num_features*float)",
          .attrs = "num_features:int>=0; l1:float; l2:float",
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace weir::ops
