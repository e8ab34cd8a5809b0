#pragma once

#include <algorithm>
#include <string_view>

#include "base/errors.h"
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

struct LrnState {
  int64_t radius;
  float bias, alpha, beta;

  explicit LrnState(const AttrMap& attrs)
      : radius(attrs.get<int64_t>("depth_radius")),
        bias(attrs.get<float>("bias")),
        alpha(attrs.get<float>("alpha")),
        beta(attrs.get<float>("beta")) {}

  // The channels within the radius of channel i: first .. last - 1.
  int64_t first(int64_t i) const { return i > radius ? i - radius : 0; }
  int64_t last(int64_t i, int64_t channels) const { return radius < channels - i ? i + radius + 1 : channels; }

  // bias + alpha * sum of squares around channel i of a pixel.
  template <class T>
  float norm(const T* pixel, int64_t channels, int64_t i) const {
    float sum = 0;
    for (int64_t k = first(i); k < last(i, channels); ++k)
      sum += static_cast<float>(pixel[k]) * static_cast<float>(pixel[k]);
    return bias + alpha * sum;
  }
};

}  // namespace weir::ops
