#pragma once

#include <cmath>
#include <string_view>

#include "devices/cpu/batch_norm.h"
#include "ops/kernel.h"
#include "ops/nn/window.h"

// What FusedBatchNorm, its later versions and its gradients share.
namespace weir::ops {

inline constexpr std::string_view kFusedBatchNormAttrs =
    "T:type{half,bfloat16,float}; U:type{float}; epsilon:float=9.999999747378752e-05; "
    "data_format:string{NHWC,NCHW}='NHWC'; is_training:bool=True";
// Of the forms that passes make.
inline constexpr std::string_view kFusedBatchNormExAttrs =
    "T:type{half,bfloat16,float}; U:type{float}; epsilon:float=9.999999747378752e-05; num_side_inputs:int>=0=0; "
    "activation_mode:string='Identity'; data_format:string{NHWC,NCHW}='NHWC'; is_training:bool=True";
inline constexpr std::string_view kFusedBatchNormAttrsV1 =
    "T:type{float}; epsilon:float=9.999999747378752e-05; data_format:string{NHWC,NCHW}='NHWC'; is_training:bool=True";

struct FusedBatchNormState {
  cpu::ChannelShape shape;
  float epsilon;
  bool training;
  cpu::Activation activation;  // of the forms that passes make
};

// The attribute activation_mode of the forms that passes make; none elsewhere.
inline cpu::Activation activation_mode(const AttrMap& attrs) {
  const AttrValue* mode = attrs.find("activation_mode");
  if (!mode || std::get<std::string>(*mode) == "Identity") return cpu::Activation::None;
  return std::get<std::string>(*mode) == "Relu" ? cpu::Activation::Relu : cpu::Activation::Relu6;
}

// Normalisation as x * factor + shift, in the same bits wherever it is worked out.
inline void normalisation(int64_t channels, const float* scale, const float* offset, const float* mean,
                          const float* variance, float epsilon, float* factor, float* shift) {
  for (int64_t i = 0; i < channels; ++i) {
    factor[i] = scale[i] / std::sqrt(variance[i] + epsilon);
    shift[i] = offset[i] - mean[i] * factor[i];
  }
}

// `x` is the input with the images.
inline FusedBatchNormState prepare_batch_norm(PrepareContext& c, int x) {
  const Shape& image = c.input(x);
  const int channels = image_layout(c.attr<std::string>("data_format")).channels;
  const int64_t outer = Shape(image.dims().first(static_cast<size_t>(channels))).elements();
  const int64_t inner = Shape(image.dims().last(static_cast<size_t>(3 - channels))).elements();
  const cpu::ChannelShape shape{outer, image[channels], inner};
  // Six vectors of the channels, the widest of double, behind the sums.
  c.set_scratch(cpu::batch_norm_scratch(shape) + static_cast<size_t>(shape.channels) * 6 * sizeof(double));
  return {shape, c.attr<float>("epsilon"), c.attr<bool>("is_training"), activation_mode(c.node().attrs())};
}

}  // namespace weir::ops
