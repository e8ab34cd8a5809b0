#pragma once

#include <string_view>

#include "devices/cpu/conv3d.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/flops.h"
#include "ops/kernel.h"
#include "ops/nn/conv_state.h"
#include "ops/nn/volume.h"
#include "ops/types.h"

// What Conv3D and its two backprops have in common.
namespace weir::ops {

inline constexpr std::string_view kConv3dAttrs =
    "T:type{half,bfloat16,float,double}; strides:list(int)>=5; padding:string{SAME,VALID}; "
    "data_format:string{NDHWC,NCDHW}='NDHWC'; dilations:list(int)=[1, 1, 1, 1, 1]";

// Of the two backprops before version 2.
inline constexpr std::string_view kOldConv3dAttrs =
    "T:type{half,float,double}; strides:list(int)>=5; padding:string{SAME,VALID}; "
    "dilations:list(int)=[1, 1, 1, 1, 1]";

// A node of one of the three with the attributes of the one that is differentiated.
template <class... Inputs>
Output conv3d_node(const GradContext& c, std::string_view op, const Inputs&... inputs) {
  NodeBuilder builder(op);
  (builder.input(inputs), ...);
  for (const char* name : {"strides", "padding", "data_format", "dilations"}) {
    builder.attr(name, *c.op().attrs().find(name));
  }
  return builder.output();
}

// What a convolution of volumes works out when its plan is made.
struct Conv3dState {
  ConvState images;  // planes on top of each other are one image, for staging
  cpu::Conv3dParams params;
};
Conv3dState prepare_conv3d(PrepareContext& c, ConvKind kind, const Shape& input, const Shape& filter);

}  // namespace weir::ops
