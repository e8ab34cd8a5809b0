#include "nn/convert.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"

namespace weir::nn {

Moments moments(const In& x, const std::vector<int64_t>& axes, const MomentsOptions& options, std::string_view name) {
  Graph& g = graph_of(x);
  LineScope line(g, source_line(x.where()));
  Scope scope = g.name_scope(name.empty() ? "moments" : name);
  Output raw = as_output(g, x, float32, "x");
  Output precise = raw.dtype() == float16 ? cast(raw, float32) : raw;
  const std::vector<int32_t> reduced(axes.begin(), axes.end());
  Output mean = reduce_mean(precise, {.axes = Axes(reduced), .keep_dims = true}, "mean");
  // The mean is the minimiser of the squared difference, so no gradient flows through it.
  Output difference = squared_difference(precise, stop_gradient(mean));
  Output variance = reduce_mean(difference, {.axes = Axes(reduced), .keep_dims = true}, "variance");
  if (!options.keep_dims) {
    mean = squeeze(mean, axes);
    variance = squeeze(variance, axes);
  }
  if (raw.dtype() == float16) return {cast(mean, float16), cast(variance, float16)};
  return {mean, variance};
}

Output batch_normalization(const In& x, const In& mean, const In& variance, const BatchNormalizationOptions& options,
                           std::string_view name) {
  Graph& g = graph_of(x, mean, variance);
  LineScope line(g, source_line(x.where()));
  Scope scope = g.name_scope(name.empty() ? "batchnorm" : name);
  Output inverse = rsqrt(variance + options.variance_epsilon);
  if (options.scale) inverse = inverse * *options.scale;
  Output scaled = x * cast(inverse, type_of(x));
  Output shift = options.offset ? *options.offset - mean * inverse : -mean * inverse;
  return scaled + cast(shift, type_of(x));
}

Output batch_normalization(const In& x, const In& mean, const In& variance, const In& offset, const In& scale,
                           float variance_epsilon, std::string_view name) {
  return batch_normalization(x, mean, variance, {offset, scale, variance_epsilon}, name);
}

}  // namespace weir::nn
