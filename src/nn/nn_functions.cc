#include "weir/nn_functions.h"

#include <numbers>

#include "nn/convert.h"
#include "weir/ops.h"

namespace weir::nn {

Output xw_plus_b(const In& x, const In& weights, const In& biases, std::string_view name) {
  Graph& g = graph_of(x, weights, biases);
  LineScope line(g, source_line(x.where()));
  Scope scope = g.name_scope(name.empty() ? "xw_plus_b" : name);
  Output values = as_output(g, x, type_of(weights, biases), "x");
  Output matrix = as_output(g, weights, values.dtype(), "weights"), b = as_output(g, biases, values.dtype(), "biases");
  return bias_add(matmul(values, matrix), b, {}, scope.name());
}

Output relu_layer(const In& x, const In& weights, const In& biases, std::string_view name) {
  Graph& g = graph_of(x, weights, biases);
  LineScope line(g, source_line(x.where()));
  Scope scope = g.name_scope(name.empty() ? "relu_layer" : name);
  Output values = as_output(g, x, type_of(weights, biases), "x");
  Output matrix = as_output(g, weights, values.dtype(), "weights"), b = as_output(g, biases, values.dtype(), "biases");
  return relu(bias_add(matmul(values, matrix), b), scope.name());
}

Output l2_normalize(const In& x, const Axes& axes, float epsilon, std::string_view name) {
  Graph& g = graph_of(x);
  LineScope line(g, source_line(x.where()));
  Scope scope = g.name_scope(name.empty() ? "l2_normalize" : name);
  Output values = as_output(g, x, float32, "x");
  Output squares = reduce_sum(square(values), {.axes = axes, .keep_dims = true});
  return multiply(values, rsqrt(maximum(squares, epsilon)), scope.name());
}

// TensorFlow counts in int32 or int64 by a condition on the size; int64 serves both.
Output zero_fraction(const In& value, std::string_view name) {
  Graph& g = graph_of(value);
  LineScope line(g, source_line(value.where()));
  Scope scope = g.name_scope(name.empty() ? "zero_fraction" : name);
  Output x = as_output(g, value, float32, "value");
  Output total = size(x, int64);
  Output nonzero = reduce_sum(cast(not_equal(x, g.constant(Literal(0), x.dtype())), int64));
  Output zeros = total - nonzero;
  Output numerator = cast(zeros, float32);
  return identity(numerator / cast(total, float32), "fraction");
}

SufficientStatistics sufficient_statistics(const In& x, const std::vector<int64_t>& axes,
                                           const SufficientStatisticsOptions& options, std::string_view name) {
  Graph& g = graph_of(x);
  LineScope line(g, source_line(x.where()));
  Scope scope = g.name_scope(name.empty() ? "sufficient_statistics" : name);
  const Output values = as_output(g, x, float32, "x");
  const Shape& shape = values.shape();
  SufficientStatistics s;
  int64_t count = 1;
  for (int64_t axis : axes) {
    const int64_t size = shape.has_rank() ? shape[static_cast<int>(axis)] : kUnknown;
    count = count == kUnknown || size == kUnknown ? kUnknown : checked_multiply(count, size);
  }
  const std::vector<int> axis_list(axes.begin(), axes.end());
  if (count != kUnknown) {
    s.count = g.constant(Literal(count), values.dtype());
  } else {
    Output sizes = cast(weir::shape(values), values.dtype());
    s.count = reduce_prod(gather(sizes, axis_list), ReduceOptions{}, "count");
  }
  Output mean_terms = values, variance_terms;
  if (options.shift) {
    s.shift = as_output(g, *options.shift, values.dtype(), "shift");
    mean_terms = subtract(values, s.shift);
    variance_terms = squared_difference(values, s.shift);
  } else {
    variance_terms = square(values);
  }
  s.mean_ss = reduce_sum(mean_terms, axis_list, options.keep_dims, "mean_ss");
  s.variance_ss = reduce_sum(variance_terms, axis_list, options.keep_dims, "var_ss");
  return s;
}

Moments normalize_moments(const In& counts, const In& mean_ss, const In& variance_ss, const std::optional<In>& shift,
                          std::string_view name) {
  Graph& g = graph_of(counts, mean_ss, variance_ss);
  LineScope line(g, source_line(mean_ss.where()));
  Scope scope = g.name_scope(name.empty() ? "normalize" : name);
  Output divisor;
  {
    Scope divisor_scope = g.name_scope("divisor");
    divisor = reciprocal(as_output(g, counts, type_of(mean_ss, variance_ss), "x"), divisor_scope.name());
  }
  Output shifted_mean = multiply(mean_ss, divisor, shift ? "shifted_mean" : "mean");
  Output mean = shift ? add(shifted_mean, *shift, "mean") : shifted_mean;
  Output mean_square = multiply(variance_ss, divisor);
  return {mean, subtract(mean_square, square(shifted_mean), "variance")};
}

Moments weighted_moments(const In& x, const std::vector<int64_t>& axes, const In& frequency_weights,
                         const MomentsOptions& options, std::string_view name) {
  Graph& g = graph_of(x, frequency_weights);
  LineScope line(g, source_line(x.where()));
  Scope scope = g.name_scope(name.empty() ? "weighted_moments" : name);
  Output values = as_output(g, x, float32, "x");
  Output weights = cast(as_output(g, frequency_weights, values.dtype(), "frequency_weights"), values.dtype());
  const std::vector<int> axis_list(axes.begin(), axes.end());
  Output weighted_sum = reduce_sum(weights * values, axis_list, true, "weighted_input_sum");
  // Broadcasts the weights, so that each element is counted.
  Output broadcast = weights + zeros_like(values);
  Output weight_sum = reduce_sum(broadcast, axis_list, true, "sum_of_weights");
  Output divisor = reciprocal(weight_sum, "inv_weight_sum");
  Output mean = multiply(weighted_sum, divisor);
  Output distances = weights * squared_difference(values, mean);
  Output distance_sum = reduce_sum(distances, axis_list, true, "weighted_distsq");
  Output variance = multiply(distance_sum, divisor);
  if (options.keep_dims) return {mean, variance};
  Output flat_mean = squeeze(mean, axes);
  return {flat_mean, squeeze(variance, axes)};
}

Output log_poisson_loss(const In& targets, const In& log_input, bool compute_full_loss, std::string_view name) {
  Graph& g = graph_of(log_input, targets);
  LineScope line(g, source_line(log_input.where()));
  Scope scope = g.name_scope(name.empty() ? "log_poisson_loss" : name);
  Output x = as_output(g, log_input, type_of(targets), "log_input"), z = as_output(g, targets, x.dtype(), "targets");
  if (!x.shape().compatible(z.shape())) {
    throw invalid_argument("log_input and targets must have the same shape; they have {} and {}", x.shape().str(),
                           z.shape().str());
  }
  Output rate = exp(x);
  Output result = rate - x * z;
  if (!compute_full_loss) return result;
  Output half = g.constant(Literal(0.5), z.dtype());
  Output two_pi = g.constant(Literal(2 * std::numbers::pi), z.dtype());
  Output main = z * log(z);
  Output rest = main - z;
  Output stirling = rest + half * log(two_pi * z);
  Output none = zeros_like(z), all = ones_like(z);
  // log(0!) = log(1!) = 0, where the approximation is bad.
  Output positive = z >= none;
  Output small = logical_and(positive, z <= all);
  return result + where(small, none, stirling);
}

Output weighted_cross_entropy_with_logits(const In& targets, const In& logits, const In& pos_weight,
                                          std::string_view name) {
  Graph& g = graph_of(logits, targets, pos_weight);
  LineScope line(g, source_line(logits.where()));
  Scope scope = g.name_scope(name.empty() ? "logistic_loss" : name);
  Output x = as_output(g, logits, type_of(targets), "logits"), z = as_output(g, targets, x.dtype(), "labels");
  if (!x.shape().compatible(z.shape())) {
    throw invalid_argument("logits and targets must have the same shape; they have {} and {}", x.shape().str(),
                           z.shape().str());
  }
  // A number is decreased before it meets the graph, as Python does.
  const In less_one =
      pos_weight.output() ? In(pos_weight - 1) : In(convert_literal(pos_weight.value(), float64).scalar<double>() - 1);
  Output log_weight = 1 + less_one * z;
  Output negative_part = 1 - z;
  Output linear = negative_part * x;
  Output log_term = log1p(exp(-abs(x)));
  Output positive_part = relu(-x);
  return add(linear, log_weight * (log_term + positive_part), scope.name());
}

}  // namespace weir::nn
