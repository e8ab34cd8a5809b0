#pragma once

#include <cstdint>
#include <string>

#include "ops/math/functors.h"
#include "ops/nn/window.h"

// Windows that slide over volumes [batch, depth, height, width, channels] (NDHWC) or [batch, channels, depth, height,
// width] (NCDHW): what the convolutions and pools in three dimensions share. Functions throw InvalidArgument.
namespace weir::ops {

struct VolumeGeometry {
  int64_t batch = 0, in_channels = 0, out_channels = 0;  // a pool keeps the channels
  Window windows[3];                                     // depth, height, width
  bool channels_last = true;

  // Sizes may be kUnknown.
  Shape input() const;
  Shape output() const;
  Shape filter() const;
  int64_t in_voxels() const { return windows[0].in * windows[1].in * windows[2].in; }
  int64_t out_voxels() const { return windows[0].out * windows[1].out * windows[2].out; }
  int64_t taps() const { return windows[0].size * windows[1].size * windows[2].size; }
};

// From the shapes of input and filter and the attributes of Conv3D and its backprops.
VolumeGeometry conv3d_geometry(const Shape& input, const Shape& filter, const AttrMap& attrs);
// From the shape of the input and the attributes of a pool. Throws Unimplemented for windows over batch or channels.
VolumeGeometry pool3d_geometry(const Shape& input, const AttrMap& attrs);

// Distances of neighbouring elements in memory.
struct VolumeStrides {
  int64_t batch, space[3], channels;
};
VolumeStrides input_strides(const VolumeGeometry& g);
VolumeStrides output_strides(const VolumeGeometry& g);

// Calls visit(tap, offset of the input voxel) for the taps at an output voxel that lie in the volume, in order.
template <class Visit>
void for_each_tap(const VolumeGeometry& g, const VolumeStrides& in, const int64_t (&out)[3], Visit&& visit) {
  const Window *d = &g.windows[0], *h = &g.windows[1], *w = &g.windows[2];
  const Taps depth(*d, out[0]), rows(*h, out[1]), columns(*w, out[2]);
  for (int64_t a = depth.first; a < depth.last; ++a) {
    const int64_t z = (out[0] * d->stride - d->pad_before + a * d->dilation) * in.space[0];
    for (int64_t b = rows.first; b < rows.last; ++b) {
      const int64_t y = z + (out[1] * h->stride - h->pad_before + b * h->dilation) * in.space[1];
      for (int64_t c = columns.first; c < columns.last; ++c) {
        const int64_t x = y + (out[2] * w->stride - w->pad_before + c * w->dilation) * in.space[2];
        visit((a * h->size + b) * w->size + c, x);
      }
    }
  }
}

// Calls body(batch, voxel) for the voxels [begin, end) of `sizes`, numbered over the whole batch.
template <class Body>
void for_each_voxel(const int64_t (&sizes)[3], int64_t begin, int64_t end, Body&& body) {
  for (int64_t at = begin; at < end; ++at) {
    const int64_t row = at / sizes[2], plane = row / sizes[1];
    const int64_t voxel[3] = {plane % sizes[0], row % sizes[1], at % sizes[2]};
    body(plane / sizes[0], voxel);
  }
}

}  // namespace weir::ops
