#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "weir/attr.h"
#include "weir/shape.h"

// Windows that slide over images: what convolutions and pools share. Functions throw InvalidArgument.
namespace weir::ops {

// One dimension. Sizes may be kUnknown.
struct Window {
  int64_t in = 0, out = 0;
  int64_t size = 1, stride = 1, dilation = 1;
  int64_t pad_before = 0, pad_after = 0;

  int64_t extent() const { return (size - 1) * dilation + 1; }  // from the first to the last tap
};

// Which dimensions of an image are what.
struct ImageLayout {
  int batch, height, width, channels;
};
ImageLayout image_layout(const std::string& data_format);

// "SAME", "VALID" or, with the pairs of explicit_paddings, "EXPLICIT".
struct PaddingAttrs {
  std::string padding;
  std::vector<int64_t> explicit_paddings;  // before and after for each dimension of the layout
};

// Fills in `out` and the padding.
void place_window(Window& window, const PaddingAttrs& padding, int dimension);

// A convolution's sizes. Unknown ones are kUnknown while a graph is built.
struct ConvGeometry {
  int64_t batch = 0, in_channels = 0, out_channels = 0;
  int64_t groups = 1;  // of channels, each of which has filters of its own and sees no other
  Window height, width;
  ImageLayout layout{};

  // An image in the layout's order.
  Shape image(int64_t rows, int64_t columns, int64_t channels) const;
  Shape input() const { return image(height.in, width.in, in_channels); }
  Shape output() const { return image(height.out, width.out, out_channels); }
  Shape filter() const {
    return {height.size, width.size, groups == 1 ? in_channels : in_channels / groups, out_channels};
  }
};
// From the shapes of the input and the filter, which have rank 4 or none, and the attributes of Conv2D and its
// backprops. A filter for fewer channels than the input has is one for groups of them, where that is allowed.
enum class ConvGroups { Refused, Allowed };
ConvGeometry conv_geometry(const Shape& input, const Shape& filter, const AttrMap& attrs,
                           ConvGroups groups = ConvGroups::Refused);

// What a pool is told: sizes and strides of the window in each dimension.
struct PoolWindows {
  std::vector<int64_t> sizes, strides;
  std::string padding, data_format = "NHWC";
};
PoolWindows pool_windows(const AttrMap& attrs);

// A pool's sizes.
struct PoolGeometry {
  int64_t batch = 0, channels = 0;  // of the input
  Window height, width;
  int64_t depth_window = 1;  // channels that become one, when rows and columns stay as they are
  ImageLayout layout{};

  Shape image(int64_t rows, int64_t columns) const;
  Shape input() const { return image(height.in, width.in); }
  Shape output() const;
};
// Throws Unimplemented for windows over batch and, unless an operation can do it, over channels.
enum class PoolDepth { Refused, Allowed };
PoolGeometry pool_geometry(const Shape& input, const PoolWindows& windows, PoolDepth depth = PoolDepth::Refused);
inline PoolGeometry pool_geometry(const Shape& input, const AttrMap& attrs) {
  return pool_geometry(input, pool_windows(attrs));
}

// Distances of neighbouring elements of an image in memory.
struct ImageStrides {
  int64_t batch, height, width, channels;
};
inline ImageStrides image_strides(const ImageLayout& layout, int64_t height, int64_t width, int64_t channels) {
  if (layout.channels == 3) return {height * width * channels, width * channels, channels, 1};
  return {channels * height * width, width, 1, height * width};
}

// The taps of a window at output position `out` that lie inside the image: first_tap .. last_tap - 1.
struct Taps {
  int64_t first, last;
  Taps(const Window& w, int64_t out) {
    const int64_t start = out * w.stride - w.pad_before;
    first = start < 0 ? (-start + w.dilation - 1) / w.dilation : 0;
    last = start >= w.in ? 0 : std::min(w.size, (w.in - 1 - start) / w.dilation + 1);
  }
};

}  // namespace weir::ops
