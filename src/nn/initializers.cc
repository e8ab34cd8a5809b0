#include <algorithm>
#include <cmath>

#include "graph/graph_impl.h"
#include "weir/ops.h"
#include "weir/variable_scope.h"

namespace weir {
namespace {

// How many inputs and outputs a unit of a layer with weights of this shape has: [..., in, out].
struct Fans {
  double in = 1, out = 1;
  double average() const { return std::max(1.0, (in + out) / 2); }
};

Fans fans_of(const Shape& shape) {
  if (shape.rank() == 0) return {};
  if (shape.rank() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double receptive_field = 1;
  for (int d = 0; d < shape.rank() - 2; ++d) receptive_field *= static_cast<double>(shape[d]);
  return {static_cast<double>(shape[-2]) * receptive_field, static_cast<double>(shape[-1]) * receptive_field};
}

}  // namespace

Initializer zeros_initializer() {
  return Initializer([](Graph& g, const Shape& shape, DType dtype) { return zeros(g, shape, dtype); });
}

Initializer ones_initializer() {
  return Initializer([](Graph& g, const Shape& shape, DType dtype) { return ones(g, shape, dtype); });
}

Initializer constant_initializer(double value) {
  return Initializer([value](Graph& g, const Shape& shape, DType dtype) {
    const bool whole = is_integer(dtype) && value == std::floor(value);
    Tensor one =
        convert_literal(whole ? Literal(static_cast<int64_t>(value)).tensor() : Literal(value).tensor(), dtype);
    Tensor all(dtype, shape);
    const size_t size = dtype_size(dtype);
    for (int64_t i = 0; i < all.elements(); ++i) {
      std::copy_n(static_cast<const char*>(one.raw()), size,
                  static_cast<char*>(all.mutable_raw()) + static_cast<size_t>(i) * size);
    }
    return g.constant(all);
  });
}

Initializer random_normal_initializer(float stddev, const RandomInitializerOptions& options) {
  return Initializer([stddev, options](Graph& g, const Shape& shape, DType dtype) {
    return random_normal(g, shape, {.mean = options.mean, .stddev = stddev, .dtype = dtype, .seed = options.seed});
  });
}

Initializer truncated_normal_initializer(float stddev, const RandomInitializerOptions& options) {
  return Initializer([stddev, options](Graph& g, const Shape& shape, DType dtype) {
    return truncated_normal(g, shape, {.mean = options.mean, .stddev = stddev, .dtype = dtype, .seed = options.seed});
  });
}

Initializer random_uniform_initializer(float minval, float maxval, std::optional<int64_t> seed) {
  return Initializer([=](Graph& g, const Shape& shape, DType dtype) {
    return random_uniform(g, shape, {.minval = minval, .maxval = In(maxval), .dtype = dtype, .seed = seed});
  });
}

Initializer glorot_uniform_initializer(std::optional<int64_t> seed) {
  return Initializer([seed](Graph& g, const Shape& shape, DType dtype) {
    const double limit = std::sqrt(3 / fans_of(shape).average());
    return random_uniform(g, shape, {.minval = -limit, .maxval = In(limit), .dtype = dtype, .seed = seed});
  });
}

Initializer glorot_normal_initializer(std::optional<int64_t> seed) {
  return Initializer([seed](Graph& g, const Shape& shape, DType dtype) {
    // Cutting the tails off at two deviations leaves a normal distribution with this deviation.
    constexpr double kTruncatedDeviation = .87962566103423978;
    const double stddev = std::sqrt(1 / fans_of(shape).average()) / kTruncatedDeviation;
    return truncated_normal(g, shape, {.mean = 0, .stddev = stddev, .dtype = dtype, .seed = seed});
  });
}

Regularizer l1_regularizer(float scale) {
  return [scale](const Output& weights) {
    if (scale == 0) return Output();
    Scope scope = weights.graph().name_scope("l1_regularizer");
    Output my_scale = weights.graph().constant(scale, weights.dtype(), "scale");
    return multiply(my_scale, reduce_sum(abs(weights)), scope.name());
  };
}

Regularizer l2_regularizer(float scale) {
  return [scale](const Output& weights) {
    if (scale == 0) return Output();
    Scope scope = weights.graph().name_scope("l2_regularizer");
    Output my_scale = weights.graph().constant(scale, weights.dtype(), "scale");
    return multiply(my_scale, nn::l2_loss(weights), scope.name());
  };
}

}  // namespace weir
