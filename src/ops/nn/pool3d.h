#pragma once

#include <algorithm>

#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "ops/nn/volume.h"
#include "ops/types.h"

// What the pools over volumes and their gradients share.
namespace weir::ops {

inline VolumeGeometry prepare_pool3d(PrepareContext& c) { return pool3d_geometry(c.input(0), c.node().attrs()); }

// A node with the attributes of the pool that is differentiated.
template <class... Inputs>
Output pool3d_node(const GradContext& c, std::string_view op, const Inputs&... inputs) {
  NodeBuilder builder(op);
  (builder.input(inputs), ...);
  for (const char* name : {"ksize", "strides", "padding", "data_format"}) {
    builder.attr(name, *c.op().attrs().find(name));
  }
  return builder.output();
}

// Calls body(output element, taps) for every element of output voxels [begin, end); taps(visit) calls visit(input
// element) for every input under the window, in order.
template <class Body>
void for_each_volume_window(const VolumeGeometry& g, int64_t begin, int64_t end, const Body& body) {
  const VolumeStrides in = input_strides(g), out = output_strides(g);
  const int64_t sizes[3] = {g.windows[0].out, g.windows[1].out, g.windows[2].out};
  for_each_voxel(sizes, begin, end, [&](int64_t n, const int64_t(&voxel)[3]) {
    const int64_t at = n * out.batch + voxel[0] * out.space[0] + voxel[1] * out.space[1] + voxel[2] * out.space[2];
    for (int64_t channel = 0; channel < g.in_channels; ++channel) {
      const int64_t image = n * in.batch + channel * in.channels;
      auto taps = [&](auto&& visit) {
        for_each_tap(g, in, voxel, [&](int64_t, int64_t offset) { visit(image + offset); });
      };
      body(at + channel * out.channels, taps);
    }
  });
}

}  // namespace weir::ops
