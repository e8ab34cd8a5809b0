#include "ops/nn/volume.h"

#include "base/errors.h"

namespace weir::ops {
namespace {

const std::vector<int64_t>& five_sizes(const AttrMap& attrs, const char* name) {
  const auto& list = attrs.get<std::vector<int64_t>>(name);
  if (list.size() != 5) throw invalid_argument("{} must have 5 entries; it has {}", name, list.size());
  for (int64_t entry : list) {
    if (entry <= 0) throw invalid_argument("{} must be positive; an entry is {}", name, entry);
  }
  return list;
}

Shape rank_5(const Shape& shape, const char* what) {
  if (shape.has_rank() && shape.rank() != 5) {
    throw invalid_argument("Shape must be rank 5 but is rank {}: {} has shape {}", shape.rank(), what, shape.str());
  }
  return shape.merged(Shape::unknown_dims(5));
}

bool channels_last(const AttrMap& attrs) {
  return !attrs.has("data_format") || attrs.get<std::string>("data_format") == "NDHWC";
}

Shape make_volume(const VolumeGeometry& g, int64_t Window::*size, int64_t channels) {
  const int64_t d = g.windows[0].*size, h = g.windows[1].*size, w = g.windows[2].*size;
  return g.channels_last ? Shape{g.batch, d, h, w, channels} : Shape{g.batch, channels, d, h, w};
}

VolumeStrides make_strides(const VolumeGeometry& g, int64_t Window::*size, int64_t channels) {
  const int64_t h = g.windows[1].*size, w = g.windows[2].*size, volume = g.windows[0].*size * h * w * channels;
  if (g.channels_last) return {volume, {h * w * channels, w * channels, channels}, 1};
  return {volume, {h * w, w, 1}, g.windows[0].*size * h * w};
}

}  // namespace

Shape VolumeGeometry::input() const { return make_volume(*this, &Window::in, in_channels); }
Shape VolumeGeometry::output() const { return make_volume(*this, &Window::out, out_channels); }
Shape VolumeGeometry::filter() const {
  return {windows[0].size, windows[1].size, windows[2].size, in_channels, out_channels};
}

VolumeStrides input_strides(const VolumeGeometry& g) { return make_strides(g, &Window::in, g.in_channels); }
VolumeStrides output_strides(const VolumeGeometry& g) { return make_strides(g, &Window::out, g.out_channels); }

VolumeGeometry conv3d_geometry(const Shape& input, const Shape& filter, const AttrMap& attrs) {
  const Shape in = rank_5(input, "the input"), taps = rank_5(filter, "the filter");
  VolumeGeometry g;
  g.channels_last = channels_last(attrs);
  const int space = g.channels_last ? 1 : 2, channels = g.channels_last ? 4 : 1;
  const auto &strides = five_sizes(attrs, "strides"), &dilations = five_sizes(attrs, "dilations");
  for (int dimension : {0, channels}) {
    const auto at = static_cast<size_t>(dimension);
    if (strides[at] != 1) throw invalid_argument("strides in the batch and depth dimensions must be 1");
    if (dilations[at] != 1) throw invalid_argument("dilations in the batch and depth dimensions must be 1");
  }
  g.batch = in[0];
  g.in_channels = in[channels] == kUnknown ? taps[3] : in[channels];
  if (taps[3] != kUnknown && taps[3] != g.in_channels) {
    throw invalid_argument("the input has {} channels, the filter is for {}: {} and {}", g.in_channels, taps[3],
                           input.str(), filter.str());
  }
  g.out_channels = taps[4];
  const PaddingAttrs padding{attrs.get<std::string>("padding"), {}};
  for (int i = 0; i < 3; ++i) {
    if (taps[i] == 0) throw invalid_argument("the filter has no taps: {}", filter.str());
    const auto at = static_cast<size_t>(space + i);
    g.windows[i] = {.in = in[space + i], .size = taps[i], .stride = strides[at], .dilation = dilations[at]};
    place_window(g.windows[i], padding, space + i);
  }
  return g;
}

VolumeGeometry pool3d_geometry(const Shape& input, const AttrMap& attrs) {
  const Shape in = rank_5(input, "the input");
  VolumeGeometry g;
  g.channels_last = channels_last(attrs);
  const int space = g.channels_last ? 1 : 2, channels = g.channels_last ? 4 : 1;
  const auto &sizes = five_sizes(attrs, "ksize"), &strides = five_sizes(attrs, "strides");
  for (int dimension : {0, channels}) {
    const auto at = static_cast<size_t>(dimension);
    if (sizes[at] != 1 || strides[at] != 1) {
      throw error(Code::Unimplemented, "Pooling is not yet supported on the batch and depth dimensions");
    }
  }
  g.batch = in[0];
  g.in_channels = g.out_channels = in[channels];
  const PaddingAttrs padding{attrs.get<std::string>("padding"), {}};
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<size_t>(space + i);
    g.windows[i] = {.in = in[space + i], .size = sizes[at], .stride = strides[at]};
    place_window(g.windows[i], padding, space + i);
  }
  return g;
}

}  // namespace weir::ops
