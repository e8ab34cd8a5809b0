#include "ops/nn/conv_state.h"

namespace weir::ops {
namespace {

template <class C>
size_t core_bytes(ConvKind kind, const cpu::ConvParams& params, int threads) {
  switch (kind) {
    case ConvKind::Forward:
      return cpu::conv_forward_scratch_bytes<C>(params, threads);
    case ConvKind::BackwardInput:
      return cpu::conv_backward_input_scratch_bytes<C>(params, threads);
    case ConvKind::BackwardFilter:
      return cpu::conv_backward_filter_scratch_bytes<C>(params, threads);
  }
  return 0;
}

}  // namespace

ConvState prepare_conv(PrepareContext& c, ConvKind kind, const Shape& input, const Shape& filter) {
  ConvState s;
  s.geometry = conv_geometry(input, filter, c.node().attrs(), ConvGroups::Allowed);
  const ConvGeometry& g = s.geometry;
  s.params = {.batch = g.batch,
              .in_h = g.height.in,
              .in_w = g.width.in,
              .in_c = g.in_channels / g.groups,
              .k_h = g.height.size,
              .k_w = g.width.size,
              .out_c = g.out_channels / g.groups,
              .stride_h = g.height.stride,
              .stride_w = g.width.stride,
              .dilation_h = g.height.dilation,
              .dilation_w = g.width.dilation,
              .pad_top = g.height.pad_before,
              .pad_bottom = g.height.pad_after,
              .pad_left = g.width.pad_before,
              .pad_right = g.width.pad_after,
              .winograd = !c.node().attrs().find("_direct")};
  const int threads = c.threads();
  place_operands(c, s,
                 c.node().type() == DType::Float64 ? core_bytes<double>(kind, s.params, threads)
                                                   : core_bytes<float>(kind, s.params, threads));
  return s;
}

void place_operands(PrepareContext& c, ConvState& s, size_t bytes) {
  const ConvGeometry& g = s.geometry;
  const DType dtype = c.node().type();
  const bool is_double = dtype == DType::Float64, is_narrow = dtype != DType::Float32 && !is_double;
  s.stage_images = is_narrow || g.layout.channels != 3 || g.groups != 1;
  s.stage_filter = is_narrow || g.groups != 1;
  auto place = [&](bool staged, const Shape& shape) {
    const size_t at = (bytes + 63) / 64 * 64;
    if (staged) bytes = at + static_cast<size_t>(checked_multiply(shape.elements(), is_double ? 8 : 4));
    return at;
  };
  s.input_at = place(s.stage_images, g.input());
  s.filter_at = place(s.stage_filter, g.filter());
  s.output_at = place(s.stage_images, g.output());
  c.set_scratch(bytes);
}

}  // namespace weir::ops
