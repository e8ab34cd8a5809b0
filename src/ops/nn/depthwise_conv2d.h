#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "devices/cpu/depthwise.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "ops/math/functors.h"
#include "ops/nn/window.h"

// Convolution of each channel by itself: filter [height, width, channels, multiplier], output channel
// channel * multiplier + m. What the operation and its two backprops share.
namespace weir::ops {

inline constexpr std::string_view kDepthwiseAttrs =
    "T:type{half,bfloat16,float,double}; strides:list(int); padding:string{SAME,VALID}; "
    "data_format:string{NHWC,NCHW}='NHWC'; dilations:list(int)=[1, 1, 1, 1]";

struct DepthwiseGeometry {
  ConvGeometry conv;  // out_channels is the multiplier
  int64_t channels() const {
    return conv.in_channels == kUnknown || conv.out_channels == kUnknown
               ? kUnknown
               : checked_multiply(conv.in_channels, conv.out_channels);
  }
  Shape output() const { return conv.image(conv.height.out, conv.width.out, channels()); }
  ImageStrides input_strides() const {
    return image_strides(conv.layout, conv.height.in, conv.width.in, conv.in_channels);
  }
  ImageStrides output_strides() const {
    return image_strides(conv.layout, conv.height.out, conv.width.out, channels());
  }
  // Whether devices/cpu/depthwise.h has loops for it, in float32.
  bool is_fast() const { return conv.height.size * conv.width.size <= cpu::kMaxDepthwiseTaps; }
  // With a channel for each filter.
  cpu::DepthwiseShape fast_shape() const {
    auto axis = [](const Window& w) {
      return cpu::DepthwiseAxis{w.in, w.out, w.size, w.stride, w.dilation, w.pad_before};
    };
    return {conv.batch, channels(), axis(conv.height), axis(conv.width)};
  }
};

inline DepthwiseGeometry depthwise_geometry(const Shape& input, const Shape& filter, const AttrMap& attrs) {
  AttrMap with_paddings = attrs;
  with_paddings.set("explicit_paddings", std::vector<int64_t>{});
  return {conv_geometry(input, filter, with_paddings)};
}

// A node of one of the three operations with the attributes of the one whose gradient is being made.
Output depthwise_node(const GradContext& c, std::string_view op, const std::vector<Output>& inputs);

constexpr int64_t kDepthwiseChunk = 64;  // channels summed up at a time

// Calls body(first, count) for the chunks of n channels.
template <class Body>
void for_each_chunk(int64_t n, const Body& body) {
  for (int64_t q = 0; q < n; q += kDepthwiseChunk) body(q, std::min(kDepthwiseChunk, n - q));
}

}  // namespace weir::ops
