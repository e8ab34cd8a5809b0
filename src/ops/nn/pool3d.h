#pragma once

#include <algorithm>
#include <type_traits>

#include "devices/cpu/pool3d.h"
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

// For the loops on vectors in devices/cpu, which take float32 where the channels lie side by side.
inline cpu::Pool3dShape pool3d_shape(const VolumeGeometry& g) {
  cpu::Pool3dShape s{.batch = g.batch, .in = {}, .out = {}, .channels = g.in_channels, .window = {}, .stride = {}};
  for (int dim = 0; dim < 3; ++dim) {
    const Window& w = g.windows[dim];
    s.in[dim] = w.in, s.out[dim] = w.out;
    s.window[dim] = w.size, s.stride[dim] = w.stride, s.pad[dim] = w.pad_before;
  }
  return s;
}

constexpr int64_t kVolumeChunk = 64;  // channels that are pooled together

// Calls body(output element, input element, taps) for the first of some channels of output voxels [begin, end); both
// are offsets from the channel's first element; taps(visit) calls visit(offset from the input element) for every input
// under the window, in order.
template <class Body>
void for_each_volume_window(const VolumeGeometry& g, int64_t begin, int64_t end, const Body& body) {
  const VolumeStrides in = input_strides(g), out = output_strides(g);
  const int64_t sizes[3] = {g.windows[0].out, g.windows[1].out, g.windows[2].out};
  for_each_voxel(sizes, begin, end, [&](int64_t n, const int64_t(&voxel)[3]) {
    auto taps = [&](auto&& visit) { for_each_tap(g, in, voxel, [&](int64_t, int64_t offset) { visit(offset); }); };
    body(n * out.batch + voxel[0] * out.space[0] + voxel[1] * out.space[1] + voxel[2] * out.space[2], n * in.batch,
         taps);
  });
}

// Calls body(q, q * stride) for q < count: a loop of its own where the channels lie side by side.
template <class Body>
void for_each_channel(int64_t stride, int64_t count, const Body& body) {
  if (stride == 1) {
    for (int64_t q = 0; q < count; ++q) body(q, q);
  } else {
    for (int64_t q = 0; q < count; ++q) body(q, q * stride);
  }
}

// Calls body(first channel, channels) for chunks of them.
template <class Body>
void for_each_volume_chunk(int64_t channels, const Body& body) {
  for (int64_t q = 0; q < channels; q += kVolumeChunk) body(q, std::min(kVolumeChunk, channels - q));
}

// Windows overlap, so that some channels of a volume are the least that one thread can add up alone: body(volume, first
// channel, channels).
template <class Body>
void for_each_volume_part(const VolumeGeometry& g, ThreadPool& pool, const Body& body) {
  const int64_t chunks = (g.in_channels + kVolumeChunk - 1) / kVolumeChunk;
  pool.parallel_for(g.batch * chunks, 1, [&](int64_t task, int64_t) {
    const int64_t first = task % chunks * kVolumeChunk;
    body(task / chunks, first, std::min(kVolumeChunk, g.in_channels - first));
  });
}

// Zeros for some channels of volume n; `to` is at the first of them.
template <class T>
void clear_volume(const VolumeGeometry& g, int64_t n, int64_t channels, T* to) {
  const VolumeStrides s = input_strides(g);
  T* volume = to + n * s.batch;
  const int64_t voxel = s.space[2];  // one step along a row; rows and planes follow each other
  for (int64_t v = 0; v < g.in_voxels(); ++v) {
    for_each_channel(s.channels, channels, [&](int64_t, int64_t i) { volume[v * voxel + i] = T(); });
  }
}

}  // namespace weir::ops
