#pragma once

#include <string_view>

#include "graph/grad_context.h"
#include "weir/nn.h"

namespace weir::ops {

// What Conv2D and its two backprops have in common.
inline constexpr std::string_view kConvAttrs =
    "T:type{half,bfloat16,float,double}; strides:list(int); use_cudnn_on_gpu:bool=True; "
    "padding:string{SAME,VALID,EXPLICIT}; explicit_paddings:list(int)=[]; data_format:string{NHWC,NCHW}='NHWC'; "
    "dilations:list(int)=[1, 1, 1, 1]";

inline NodeBuilder& with_conv_attrs(NodeBuilder& builder, const nn::Conv2dOptions& options) {
  return builder.attr("strides", options.strides)
      .attr("padding", options.padding)
      .attr("explicit_paddings", options.explicit_paddings)
      .attr("data_format", options.data_format)
      .attr("dilations", options.dilations);
}

// A convolution with the attributes of the one that is differentiated.
template <class... Inputs>
Output conv_node(const GradContext& c, std::string_view op, const Inputs&... inputs) {
  NodeBuilder builder(op);
  (builder.input(inputs), ...);
  for (const char* name : {"strides", "use_cudnn_on_gpu", "padding", "explicit_paddings", "data_format", "dilations"}) {
    builder.attr(name, *c.op().attrs().find(name));
  }
  return builder.output();
}

}  // namespace weir::ops
