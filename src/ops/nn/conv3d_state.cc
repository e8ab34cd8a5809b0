#include "ops/nn/conv3d.h"

namespace weir::ops {
namespace {

template <class C>
size_t core_bytes(ConvKind kind, const cpu::Conv3dParams& params, int threads) {
  switch (kind) {
    case ConvKind::Forward:
      return cpu::conv3d_forward_scratch_bytes<C>(params, threads);
    case ConvKind::BackwardInput:
      return cpu::conv3d_backward_input_scratch_bytes<C>(params, threads);
    case ConvKind::BackwardFilter:
      return cpu::conv3d_backward_filter_scratch_bytes<C>(params, threads);
  }
  return 0;
}

}  // namespace

Conv3dState prepare_conv3d(PrepareContext& c, ConvKind kind, const Shape& input, const Shape& filter) {
  const VolumeGeometry g = conv3d_geometry(input, filter, c.node().attrs());
  const Window &depth = g.windows[0], &height = g.windows[1], &width = g.windows[2];
  Conv3dState s;
  s.params = {.plane = {.batch = g.batch,
                        .in_h = height.in,
                        .in_w = width.in,
                        .in_c = g.in_channels,
                        .k_h = height.size,
                        .k_w = width.size,
                        .out_c = g.out_channels,
                        .stride_h = height.stride,
                        .stride_w = width.stride,
                        .dilation_h = height.dilation,
                        .dilation_w = width.dilation,
                        .pad_top = height.pad_before,
                        .pad_bottom = height.pad_after,
                        .pad_left = width.pad_before,
                        .pad_right = width.pad_after,
                        .winograd = !c.node().attrs().find("_direct")},
              .in_d = depth.in,
              .k_d = depth.size,
              .stride_d = depth.stride,
              .dilation_d = depth.dilation,
              .pad_front = depth.pad_before,
              .pad_back = depth.pad_after};
  s.images.geometry = {.batch = g.batch,
                       .in_channels = g.in_channels,
                       .out_channels = g.out_channels,
                       .height = {.in = checked_multiply(depth.in, height.in),
                                  .out = checked_multiply(depth.out, height.out),
                                  .size = checked_multiply(depth.size, height.size)},
                       .width = {.in = width.in, .out = width.out, .size = width.size},
                       .layout = image_layout(g.channels_last ? "NHWC" : "NCHW")};
  const int threads = c.threads();
  place_operands(c, s.images,
                 c.node().type() == DType::Float64 ? core_bytes<double>(kind, s.params, threads)
                                                   : core_bytes<float>(kind, s.params, threads));
  return s;
}

}  // namespace weir::ops
