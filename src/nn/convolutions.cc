#include "nn/convert.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"
#include "weir/space_ops.h"

namespace weir::nn {
namespace {

// Runs a convolution without padding on every rate-th pixel of an image, all of them at once: pixels at one place of
// blocks of rate x rate become a batch.
struct Dilation {
  int64_t rates[2], pad_before[2], pad_after[2], crop_after[2];
};

// Places the paddings for `filter` sizes: those of "SAME", and what fills up the last block.
Dilation place_dilation(const Shape& image, const Shape& filter, const std::vector<int64_t>& rate, bool same) {
  Dilation d{};
  for (int i = 0; i < 2; ++i) {
    const int64_t size = image[i + 1], extent = (filter[i] - 1) * rate[static_cast<size_t>(i)];
    d.rates[i] = rate[static_cast<size_t>(i)];
    if (size == kUnknown || filter[i] == kUnknown) {
      throw invalid_argument("a dilated convolution needs to know the sizes of image and filter: {} and {}",
                             image.str(), filter.str());
    }
    const int64_t pad = same ? extent : 0;
    d.pad_before[i] = pad / 2;
    const int64_t end = pad - d.pad_before[i];
    const int64_t full = size + pad;
    d.crop_after[i] = (d.rates[i] - full % d.rates[i]) % d.rates[i];
    d.pad_after[i] = end + d.crop_after[i];
  }
  return d;
}

template <class Convolve>
Output with_space_to_batch(const Output& image, const Dilation& d, const Convolve& convolve) {
  const Tensor blocks(std::vector<int32_t>{int32_t(d.rates[0]), int32_t(d.rates[1])});
  const Tensor paddings = Tensor::from<int32_t>(
      {int32_t(d.pad_before[0]), int32_t(d.pad_after[0]), int32_t(d.pad_before[1]), int32_t(d.pad_after[1])}, {2, 2});
  const Tensor crops = Tensor::from<int32_t>({0, int32_t(d.crop_after[0]), 0, int32_t(d.crop_after[1])}, {2, 2});
  Output batches = space_to_batch_nd(image, blocks, paddings);
  return batch_to_space_nd(convolve(batches), blocks, crops);
}

}  // namespace

Output conv2d_transpose(const In& value, const In& filter, const In& output_shape, const Conv2dOptions& options,
                        std::string_view name) {
  Graph& g = graph_of(value, filter);
  LineScope line(g, source_line(value.where()));
  Scope scope = g.name_scope(name.empty() ? "conv2d_transpose" : name);
  return conv2d_backprop_input(output_shape, filter, value, options, scope.name());
}

Output depthwise_conv2d(const In& input, const In& filter, const DepthwiseConv2dOptions& options,
                        std::string_view name) {
  Graph& g = graph_of(input, filter);
  LineScope line(g, source_line(input.where()));
  Scope scope = g.name_scope(name.empty() ? "depthwise" : name);
  Output image = as_output(g, input, float32, "tensor_in"), taps = as_output(g, filter, image.dtype(), "filter_in");
  auto convolve = [&](const Output& x, const std::string& padding) {
    return NodeBuilder("DepthwiseConv2dNative", scope.name())
        .input(x)
        .input(taps)
        .attr("strides", options.strides)
        .attr("padding", padding)
        .attr("data_format", options.data_format)
        .output();
  };
  shape(taps);
  g.constant(Tensor(std::vector<int32_t>(options.rate.begin(), options.rate.end())), "dilation_rate");
  if (options.rate.size() != 2) throw invalid_argument("rate must have 2 entries; it has {}", options.rate.size());
  if (options.rate[0] == 1 && options.rate[1] == 1) return convolve(image, options.padding);
  if (options.data_format != "NHWC") throw invalid_argument("a rate other than 1 is for images in NHWC");
  Dilation d = place_dilation(image.shape(), taps.shape(), options.rate, options.padding == "SAME");
  return with_space_to_batch(image, d, [&](const Output& x) { return convolve(x, "VALID"); });
}

Output separable_conv2d(const In& input, const In& depthwise_filter, const In& pointwise_filter,
                        const DepthwiseConv2dOptions& options, std::string_view name) {
  Graph& g = graph_of(input, depthwise_filter, pointwise_filter);
  LineScope line(g, source_line(input.where()));
  Scope scope = g.name_scope(name.empty() ? "separable_conv2d" : name);
  Output image = as_output(g, input, float32, "tensor_in");
  Output taps = as_output(g, depthwise_filter, image.dtype(), "depthwise_filter");
  Output points = as_output(g, pointwise_filter, image.dtype(), "pointwise_filter");
  if (!points.shape().compatible(Shape{1, 1, kUnknown, kUnknown})) {
    throw invalid_argument("the pointwise filter must be 1x1; its shape is {}", points.shape().str());
  }
  shape(taps);
  g.constant(Tensor(std::vector<int32_t>(options.rate.begin(), options.rate.end())), "dilation_rate");
  auto convolve = [&](const Output& x, const std::string& padding) {
    return NodeBuilder("DepthwiseConv2dNative", "depthwise")
        .input(x)
        .input(taps)
        .attr("strides", options.strides)
        .attr("padding", padding)
        .attr("data_format", options.data_format)
        .output();
  };
  Output deep;
  if (options.rate.size() == 2 && (options.rate[0] != 1 || options.rate[1] != 1)) {
    Dilation d = place_dilation(image.shape(), taps.shape(), options.rate, options.padding == "SAME");
    deep = with_space_to_batch(image, d, [&](const Output& x) { return convolve(x, "VALID"); });
  } else {
    deep = convolve(image, options.padding);
  }
  return conv2d(deep, points, {.padding = "VALID", .data_format = options.data_format}, scope.name());
}

Output atrous_conv2d(const In& value, const In& filters, int64_t rate, const std::string& padding,
                     std::string_view name) {
  Graph& g = graph_of(value, filters);
  LineScope line(g, source_line(value.where()));
  Scope scope = g.name_scope(name.empty() ? "convolution" : name);
  Output image = as_output(g, value, float32, "value"), taps = as_output(g, filters, image.dtype(), "filter");
  if (rate == 1) return conv2d(image, taps, {.padding = padding}, scope.name());
  Dilation d = place_dilation(image.shape(), taps.shape(), {rate, rate}, padding == "SAME");
  return with_space_to_batch(image, d,
                             [&](const Output& x) { return conv2d(x, taps, {.padding = "VALID"}, scope.name()); });
}

}  // namespace weir::nn
