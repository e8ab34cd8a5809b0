#include "graph/node.h"
#include "nn/convert.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"

namespace weir::nn {

Output dropout(const In& x, const In& keep_prob, const DropoutOptions& options, std::string_view name) {
  LineScope line(graph_of(x, keep_prob), source_line(x.where()));
  // TensorFlow 1.15 turns keep_prob into a rate first: a number here, a node when it is a tensor.
  if (keep_prob.output()) return dropout_rate(x, 1. - keep_prob, options, name);
  const double rate = 1 - convert_literal(keep_prob.value(), float64).scalar<double>();
  if (!(rate >= 0 && rate < 1)) throw invalid_argument("keep_prob must be in (0, 1]; it is {}", 1 - rate);
  return dropout_rate(x, rate, options, name);
}

Output dropout_rate(const In& x, const In& dropped, const DropoutOptions& options, std::string_view name) {
  Graph& g = graph_of(x, dropped);
  LineScope line(g, source_line(x.where()));
  Output rate = dropped.output();
  double rate_number = 0;
  if (!rate) {
    rate_number = convert_literal(dropped.value(), float64).scalar<double>();
    if (!(rate_number >= 0 && rate_number < 1)) throw invalid_argument("rate must be in [0, 1); it is {}", rate_number);
  }
  Scope scope = g.name_scope(name.empty() ? "dropout" : name);
  Output features = as_output(g, x, float32, "x");
  if (!is_floating(features.dtype())) {
    throw invalid_argument("dropout scales its input, which must be floating; it is {}", dtype_name(features.dtype()));
  }
  if (!rate) {
    if (rate_number == 0) return features;
    rate = g.constant(Literal(rate_number), features.dtype(), "rate");
  }
  In noise_shape = options.noise_shape ? *options.noise_shape : In(shape(features));
  Output uniform = random_uniform(g, noise_shape, {.dtype = features.dtype(), .seed = options.seed});
  Output scale = 1 / (1 - rate);
  Output keep_mask = uniform >= rate;
  Output scaled = features * scale;
  Output result = scaled * cast(keep_mask, features.dtype());
  result.set_shape(features.shape());
  return result;
}

}  // namespace weir::nn
