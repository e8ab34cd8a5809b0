#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"
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

constexpr int64_t kVolumeChunk = 64;  // channels summed up at a time

// Calls body(first, count) for the chunks of n channels.
template <class Body>
void for_each_channels(int64_t n, const Body& body) {
  for (int64_t q = 0; q < n; q += kVolumeChunk) body(q, std::min(kVolumeChunk, n - q));
}

}  // namespace weir::ops
