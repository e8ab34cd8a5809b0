#include "ops/nn/window.h"

#include <algorithm>

#include "base/errors.h"

namespace weir::ops {
namespace {

Shape make_image(const ImageLayout& layout, int64_t batch, int64_t rows, int64_t columns, int64_t channels) {
  Shape shape = Shape::unknown_dims(4);
  shape.set_dim(layout.batch, batch);
  shape.set_dim(layout.height, rows);
  shape.set_dim(layout.width, columns);
  shape.set_dim(layout.channels, channels);
  return shape;
}

// An entry for each dimension, all positive.
void require_four_sizes(const std::vector<int64_t>& list, const char* name) {
  if (list.size() != 4) throw invalid_argument("{} must have 4 entries; it has {}", name, list.size());
  for (int64_t entry : list) {
    if (entry <= 0) throw invalid_argument("{} must be positive; an entry is {}", name, entry);
  }
}

const std::vector<int64_t>& four_sizes(const AttrMap& attrs, const char* name) {
  const auto& list = attrs.get<std::vector<int64_t>>(name);
  require_four_sizes(list, name);
  return list;
}

int64_t at(const std::vector<int64_t>& list, int dimension) { return list[static_cast<size_t>(dimension)]; }

void require_rank_4(const Shape& shape, const char* what) {
  if (shape.has_rank() && shape.rank() != 4) {
    throw invalid_argument("Shape must be rank 4 but is rank {}: {} has shape {}", shape.rank(), what, shape.str());
  }
}

}  // namespace

ImageLayout image_layout(const std::string& data_format) {
  if (data_format == "NHWC") return {0, 1, 2, 3};
  if (data_format == "NCHW") return {0, 2, 3, 1};
  throw invalid_argument("the data format is {}; NHWC and NCHW are known", data_format);
}

// A stride beyond the last place where a window could begin becomes the least such: it may be absurd, and kernels count
// with it.
void place_window(Window& w, const PaddingAttrs& padding, int dimension) {
  w.out = kUnknown;
  if (padding.padding == "EXPLICIT") {
    w.pad_before = padding.explicit_paddings[static_cast<size_t>(2 * dimension)];
    w.pad_after = padding.explicit_paddings[static_cast<size_t>(2 * dimension + 1)];
  }
  if (w.in == kUnknown || w.size == kUnknown) return;
  const int64_t extent = checked_add(checked_multiply(w.size - 1, w.dilation), 1);
  if (padding.padding == "SAME") {
    w.out = w.in / w.stride + (w.in % w.stride != 0);
    const int64_t needed = checked_add(checked_multiply(std::max<int64_t>(w.out - 1, 0), w.stride), extent);
    const int64_t total = std::max<int64_t>(needed - w.in, 0);
    w.pad_before = total / 2;
    w.pad_after = total - w.pad_before;
    w.stride = std::min(w.stride, std::max<int64_t>(w.in, 1));
  } else {
    const int64_t padded = checked_add(w.in, checked_add(w.pad_before, w.pad_after));
    if (padded < extent) {
      throw invalid_argument("Negative dimension size: a window of {} does not fit into {} elements (with padding)",
                             extent, padded);
    }
    w.out = (padded - extent) / w.stride + 1;
    w.stride = std::min(w.stride, checked_add(padded - extent, 1));
  }
}

Shape ConvGeometry::image(int64_t rows, int64_t columns, int64_t depth) const {
  return make_image(layout, batch, rows, columns, depth);
}

Shape PoolGeometry::image(int64_t rows, int64_t columns) const {
  return make_image(layout, batch, rows, columns, channels);
}

Shape PoolGeometry::output() const {
  const int64_t depth = channels == kUnknown ? kUnknown : channels / depth_window;
  return make_image(layout, batch, height.out, width.out, depth);
}

ConvGeometry conv_geometry(const Shape& input, const Shape& filter, const AttrMap& attrs, ConvGroups groups) {
  require_rank_4(input, "the input");
  require_rank_4(filter, "the filter");
  const Shape in = input.merged(Shape::unknown_dims(4)), taps = filter.merged(Shape::unknown_dims(4));
  ConvGeometry g;
  g.layout = image_layout(attrs.get<std::string>("data_format"));
  const auto& strides = four_sizes(attrs, "strides");
  const auto& dilations = four_sizes(attrs, "dilations");
  for (int dimension : {g.layout.batch, g.layout.channels}) {
    if (at(strides, dimension) != 1) throw invalid_argument("strides in the batch and depth dimensions must be 1");
    if (at(dilations, dimension) != 1) throw invalid_argument("dilations in the batch and depth dimensions must be 1");
  }
  PaddingAttrs padding{attrs.get<std::string>("padding"), attrs.get<std::vector<int64_t>>("explicit_paddings")};
  if (padding.padding == "EXPLICIT") {
    const auto& pairs = padding.explicit_paddings;
    if (pairs.size() != 8) throw invalid_argument("explicit_paddings must have 8 entries; it has {}", pairs.size());
    for (int64_t pad : pairs) {
      if (pad < 0) throw invalid_argument("All elements of explicit_paddings must be nonnegative; one is {}", pad);
    }
    for (int dimension : {g.layout.batch, g.layout.channels}) {
      if (at(pairs, 2 * dimension) != 0 || at(pairs, 2 * dimension + 1) != 0) {
        throw invalid_argument("explicit_paddings in the batch and depth dimensions must be 0");
      }
    }
  } else if (!padding.explicit_paddings.empty()) {
    throw invalid_argument("explicit_paddings are for padding EXPLICIT only");
  }

  g.batch = in[g.layout.batch];
  g.in_channels = in[g.layout.channels];
  if (g.in_channels == kUnknown) g.in_channels = taps[2];
  if (taps[2] != kUnknown && taps[2] != g.in_channels) {
    const bool whole = groups == ConvGroups::Allowed && taps[2] > 0 && g.in_channels >= taps[2];
    if (whole) g.groups = g.in_channels / taps[2];
    if (!whole || g.in_channels % taps[2] != 0 || (taps[3] != kUnknown && taps[3] % g.groups != 0)) {
      throw invalid_argument("the input has {} channels, the filter is for {}: {} and {}", g.in_channels, taps[2],
                             input.str(), filter.str());
    }
  }
  g.out_channels = taps[3];
  auto window = [&](int dimension, int64_t size) {
    if (size == 0) throw invalid_argument("the filter has no taps: {}", filter.str());
    Window w{.in = in[dimension], .size = size, .stride = at(strides, dimension), .dilation = at(dilations, dimension)};
    place_window(w, padding, dimension);
    return w;
  };
  g.height = window(g.layout.height, taps[0]);
  g.width = window(g.layout.width, taps[1]);
  // Kernels keep a place for each tap and each phase of the strides. Only what has no elements can be this large.
  if (g.height.size > 0 && g.width.size > 0 && checked_multiply(g.height.size, g.width.size) > INT32_MAX) {
    throw invalid_argument("the filter has too many taps: {}", filter.str());
  }
  if (g.height.out >= 0 && g.width.out >= 0 && checked_multiply(g.height.stride, g.width.stride) > INT32_MAX) {
    throw invalid_argument("the strides {} x {} are too large", g.height.stride, g.width.stride);
  }
  return g;
}

PoolGeometry pool_geometry(const Shape& input, const PoolWindows& windows, PoolDepth depth) {
  require_rank_4(input, "the input");
  const Shape in = input.merged(Shape::unknown_dims(4));
  PoolGeometry g;
  g.layout = image_layout(windows.data_format);
  require_four_sizes(windows.sizes, "ksize");
  require_four_sizes(windows.strides, "strides");
  if (at(windows.sizes, g.layout.batch) != 1 || at(windows.strides, g.layout.batch) != 1) {
    throw error(Code::Unimplemented, "Pooling is not yet supported on the batch dimension");
  }
  const PaddingAttrs padding{windows.padding, {}};
  auto window = [&](int dimension) {
    Window w{.in = in[dimension], .size = at(windows.sizes, dimension), .stride = at(windows.strides, dimension)};
    place_window(w, padding, dimension);
    return w;
  };
  g.batch = in[g.layout.batch];
  g.channels = in[g.layout.channels];
  g.height = window(g.layout.height);
  g.width = window(g.layout.width);
  const int64_t size = at(windows.sizes, g.layout.channels), stride = at(windows.strides, g.layout.channels);
  if (size == 1 && stride == 1) return g;
  if (depth == PoolDepth::Refused || g.layout.channels != 3) {
    throw error(Code::Unimplemented, "Pooling is not yet supported on the depth dimension");
  }
  if (g.height.size != 1 || g.width.size != 1) {
    throw error(Code::Unimplemented,
                "MaxPool does exactly one of pooling across depth and pooling across rows and columns");
  }
  if (size != stride) {
    throw error(Code::Unimplemented, "pooling across depth needs the depth window to equal the depth stride: {} and {}",
                size, stride);
  }
  if (g.channels != kUnknown && g.channels % size != 0) {
    throw error(Code::Unimplemented, "the depth window {} must evenly divide the input's depth {}", size, g.channels);
  }
  g.depth_window = size;
  return g;
}

PoolWindows pool_windows(const AttrMap& attrs) {
  return {attrs.get<std::vector<int64_t>>("ksize"), attrs.get<std::vector<int64_t>>("strides"),
          attrs.get<std::string>("padding"),
          attrs.find("data_format") ? attrs.get<std::string>("data_format") : "NHWC"};
}

}  // namespace weir::ops
