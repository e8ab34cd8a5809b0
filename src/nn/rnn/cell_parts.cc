#include "nn/rnn/cell_parts.h"

#include "weir/nn_functions.h"

namespace weir::rnn {

Output linear(const WeightSource& weights, const std::vector<Output>& parts, int64_t columns,
              const LinearOptions& options) {
  int64_t rows = 0;
  for (const Output& part : parts) rows += depth_of(part.shape());
  const Output kernel = weights(options.scope + "kernel", {rows, columns}, {.initializer = options.kernel_initializer});
  Output bias;
  if (options.bias) bias = weights(options.scope + "bias", {columns}, {.initializer = constant_initializer(0)});
  const Output product = matmul(parts.size() == 1 ? parts[0] : concat(parts, 1), kernel);
  return bias ? nn::bias_add(product, bias) : product;
}

Output sharded(const WeightSource& weights, const std::string& name, const Shape& shape, int64_t shards,
               const Initializer& initializer) {
  const int64_t rows = shape[0];
  if (shards < 1 || shards > rows) {
    throw invalid_argument("Too many shards: shape={}, num_shards={}", shape.str(), shards);
  }
  std::vector<Output> parts;
  for (int64_t i = 0; i < shards; ++i) {
    const int64_t own = rows / shards + (i < rows % shards ? 1 : 0);
    parts.push_back(weights(name + "_" + std::to_string(i), {own, shape[1]}, {.initializer = initializer}));
  }
  return shards == 1 ? parts[0] : concat(parts, 0, name + "/concat");
}

Output normalized(const WeightSource& weights, const Output& x, const std::string& scope, const Normalization& norm) {
  if (!norm.on) return x;
  Scope names = x.graph().name_scope(scope);
  const Shape size{depth_of(x.shape())};
  const Output gamma = weights(scope + "/gamma", size, {.initializer = constant_initializer(norm.gain)});
  const Output beta = weights(scope + "/beta", size, {.initializer = constant_initializer(norm.shift)});
  const nn::Moments moments = nn::moments(x, {-1}, {.keep_dims = true});
  return nn::batch_normalization(x, moments.mean, moments.variance,
                                 {.offset = In(beta), .scale = In(gamma), .variance_epsilon = 1e-12f});
}

std::optional<double> number_of(const In& keep_prob) {
  if (keep_prob.output()) return std::nullopt;
  const Tensor& value = keep_prob.value();
  return value.dtype() == float32 ? value.scalar<float>() : value.scalar<double>();
}

bool keeps_all(const In& keep_prob) {
  const std::optional<double> number = number_of(keep_prob);
  return number && *number >= 1;
}

Output clipped(const Output& x, const std::optional<float>& limit) {
  return limit ? clip_by_value(x, -*limit, *limit) : x;
}

}  // namespace weir::rnn
