#include <algorithm>

#include "nn/convert.h"
#include "nn/space_to_batch.h"
#include "weir/convolutions.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"

namespace weir::nn {
namespace {

bool channels_first(const std::string& data_format) { return data_format.starts_with("NC"); }

// The sizes for each dimension of a node, of those of the spatial ones.
std::vector<int64_t> around(const std::vector<int64_t>& spatial, bool first) {
  std::vector<int64_t> all = first ? std::vector<int64_t>{1, 1} : std::vector<int64_t>{1};
  all.insert(all.end(), spatial.begin(), spatial.end());
  if (!first) all.push_back(1);
  return all;
}

std::vector<int64_t> per_dimension(const std::vector<int64_t>& given, size_t dims, const char* what) {
  if (given.empty()) return std::vector<int64_t>(dims, 1);
  if (given.size() != dims) {
    throw invalid_argument("len({})={}, but should be {}", what, given.size(), dims);
  }
  return given;
}

// Through images of height one.
template <class F>
Output as_images(const Output& signal, const std::string& data_format, F compute) {
  if (data_format != "NWC" && data_format != "NCW" && data_format != "NHWC" && data_format != "NCHW") {
    throw invalid_argument("data_format must be \"NWC\" or \"NCW\"; it is \"{}\"", data_format);
  }
  const bool first = channels_first(data_format);
  const int64_t axis = first ? 2 : 1;
  Output image = expand_dims(signal, axis);
  return squeeze(compute(image, first), {axis});
}

Output pool1d(const char* op, const char* scope_name, const In& input, const Pool1dOptions& options,
              std::string_view name) {
  Graph& g = graph_of(input);
  LineScope line(g, source_line(input.where()));
  Scope scope = g.name_scope(name.empty() ? scope_name : name);
  return as_images(input.output(), options.data_format, [&](const Output& image, bool first) {
    return NodeBuilder(op)
        .input(image)
        .attr("ksize", around({1, options.ksize}, first))
        .attr("strides", around({1, options.stride}, first))
        .attr("padding", options.padding)
        .attr("data_format", std::string(first ? "NCHW" : "NHWC"))
        .output();
  });
}

Output pool3d(const char* op, const In& input, const Pool3dOptions& options, std::string_view name) {
  return NodeBuilder(op, name, input.where())
      .input(input)
      .attr("ksize", options.ksize)
      .attr("strides", options.strides)
      .attr("padding", options.padding)
      .attr("data_format", options.data_format)
      .output();
}

}  // namespace

Output conv1d(const In& value, const In& filters, const Conv1dOptions& options, std::string_view name) {
  Graph& g = graph_of(value, filters);
  LineScope line(g, source_line(value.where()));
  Scope scope = g.name_scope(name.empty() ? "conv1d" : name);
  Output signal = as_output(g, value, float32, "value");
  return as_images(signal, options.data_format, [&](const Output& image, bool first) {
    Output kernel = expand_dims(as_output(g, filters, signal.dtype(), "filters"), 0);
    return conv2d(image, kernel,
                  {.strides = around({1, options.stride}, first),
                   .padding = options.padding,
                   .data_format = first ? "NCHW" : "NHWC",
                   .dilations = around({1, options.dilation}, first)},
                  scope.name());
  });
}

Output conv3d(const In& input, const In& filter, const Conv3dOptions& options, std::string_view name) {
  return NodeBuilder("Conv3D", name, input.where())
      .input(input)
      .input(filter)
      .attr("strides", options.strides)
      .attr("padding", options.padding)
      .attr("data_format", options.data_format)
      .attr("dilations", options.dilations)
      .output();
}

Output conv3d_transpose(const In& value, const In& filter, const In& output_shape, const Conv3dOptions& options,
                        std::string_view name) {
  Graph& g = graph_of(value, filter);
  LineScope line(g, source_line(value.where()));
  Scope scope = g.name_scope(name.empty() ? "conv3d_transpose" : name);
  return NodeBuilder("Conv3DBackpropInputV2", scope.name())
      .input(output_shape)
      .input(filter)
      .input(value)
      .attr("strides", options.strides)
      .attr("padding", options.padding)
      .attr("data_format", options.data_format)
      .attr("dilations", options.dilations)
      .output();
}

Output max_pool3d(const In& input, const Pool3dOptions& options, std::string_view name) {
  return pool3d("MaxPool3D", input, options, name);
}
Output avg_pool3d(const In& input, const Pool3dOptions& options, std::string_view name) {
  return pool3d("AvgPool3D", input, options, name);
}
Output max_pool1d(const In& input, const Pool1dOptions& options, std::string_view name) {
  return pool1d("MaxPool", "MaxPool1d", input, options, name);
}
Output avg_pool1d(const In& input, const Pool1dOptions& options, std::string_view name) {
  return pool1d("AvgPool", "AvgPool1D", input, options, name);
}

Output dilation_rate_constant(Graph& graph, const std::vector<int64_t>& dilation_rate) {
  return graph.constant(Tensor(std::vector<int32_t>(dilation_rate.begin(), dilation_rate.end())), "dilation_rate");
}

Output convolution_with_rate(const Output& input, const Output& filter, const Output& rate,
                             const ConvolutionOptions& options, std::string_view name) {
  const int rank = filter.shape().has_rank() ? filter.shape().rank() : input.shape().rank();
  if (rank < 3 || rank > 5) throw invalid_argument("`input` and `filter` must have rank at least 3 and at most 5");
  const auto dims = static_cast<size_t>(rank - 2);
  for (const auto& [shape, what] : {std::pair(input.shape(), "input"), std::pair(filter.shape(), "filter")}) {
    if (shape.has_rank() && shape.rank() != rank) throw invalid_argument("{} tensor must have rank {}", what, rank);
  }
  const std::vector<int64_t> strides = per_dimension(options.strides, dims, "strides");
  const std::vector<int64_t> rates = per_dimension(options.dilation_rate, dims, "dilation_rate");
  const auto above_one = [](int64_t n) { return n > 1; };
  if (std::any_of(strides.begin(), strides.end(), above_one) && std::any_of(rates.begin(), rates.end(), above_one)) {
    throw invalid_argument("strides > 1 not supported in conjunction with dilation_rate > 1");
  }
  const bool first = channels_first(options.data_format);
  const int64_t channels = input.shape().has_rank() ? input.shape()[first ? 1 : -1] : kUnknown;
  const int64_t taken = filter.shape().has_rank() ? filter.shape()[-2] : kUnknown;
  if (channels != kUnknown && taken != kUnknown && channels != taken) {
    throw invalid_argument("number of input channels does not match corresponding dimension of filter, {} != {}",
                           channels, taken);
  }
  const std::string node_name(name);
  auto convolve = [&](const Output& x, const std::string& padding) -> Output {
    if (dims == 1) {
      return conv1d(x, filter, {.stride = strides[0], .padding = padding, .data_format = first ? "NCW" : "NWC"},
                    node_name);
    }
    if (dims == 2) {
      return conv2d(x, filter,
                    {.strides = around(strides, first), .padding = padding, .data_format = first ? "NCHW" : "NHWC"},
                    node_name);
    }
    return conv3d(x, filter,
                  {.strides = around(strides, first), .padding = padding, .data_format = first ? "NCDHW" : "NDHWC"},
                  node_name);
  };
  Output result = with_space_to_batch(input,
                                      {.rates = rates,
                                       .rate_node = rate,
                                       .padding = options.padding,
                                       .filter = filter.shape(),
                                       .filter_node = true,
                                       .channels_first = first},
                                      convolve);
  if (first && result.shape().has_rank() && result.shape()[1] == kUnknown && filter.shape().has_rank()) {
    Shape known = result.shape();
    known.set_dim(1, filter.shape()[-1]);
    result.set_shape(known);
  }
  return result;
}

Output convolution(const In& input, const In& filter, const ConvolutionOptions& options, std::string_view name) {
  Graph& g = graph_of(input, filter);
  LineScope line(g, source_line(input.where()));
  Scope scope = g.name_scope(name.empty() ? "convolution" : name);
  Output image = as_output(g, input, type_of(filter), "input"), taps = as_output(g, filter, image.dtype(), "filter");
  const int rank = taps.shape().has_rank() ? taps.shape().rank() : image.shape().rank();
  const std::vector<int64_t> rates =
      per_dimension(options.dilation_rate, static_cast<size_t>(std::max(rank - 2, 0)), "dilation_rate");
  const bool dilated = std::any_of(rates.begin(), rates.end(), [](int64_t rate) { return rate != 1; });
  return convolution_with_rate(image, taps, dilated ? dilation_rate_constant(g, rates) : Output(), options,
                               scope.name());
}

}  // namespace weir::nn
