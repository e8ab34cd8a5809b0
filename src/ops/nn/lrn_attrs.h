#pragma once

#include <string_view>

#include "base/errors.h"
#include "devices/cpu/lrn.h"
#include "ops/kernel.h"
#include "weir/attr.h"
#include "weir/nn.h"

namespace weir::ops {

inline constexpr std::string_view kLrnAttrs =
    "depth_radius:int=5; bias:float=1.0; alpha:float=1.0; beta:float=0.5; T:type{half,bfloat16,float}=float";

inline void check_lrn(const AttrMap& attrs) {
  if (attrs.get<int64_t>("depth_radius") < 0) throw invalid_argument("depth_radius must not be negative");
}

inline NodeBuilder& with_lrn_attrs(NodeBuilder& builder, const nn::LrnOptions& options) {
  return builder.attr("depth_radius", options.depth_radius)
      .attr("bias", options.bias)
      .attr("alpha", options.alpha)
      .attr("beta", options.beta);
}

inline cpu::LrnOptions prepare_lrn(PrepareContext& c) {
  return {.depth_radius = c.attr<int64_t>("depth_radius"),
          .bias = c.attr<float>("bias"),
          .alpha = c.attr<float>("alpha"),
          .beta = c.attr<float>("beta")};
}

}  // namespace weir::ops
