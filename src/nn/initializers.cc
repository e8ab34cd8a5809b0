#include "weir/initializers.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir {
namespace {

// Copies the bytes of one element over and over.
void fill_elements(Tensor& all, const Tensor& one, int64_t source, int64_t begin) {
  const size_t size = dtype_size(all.dtype());
  for (int64_t i = begin; i < all.elements(); ++i) {
    std::copy_n(static_cast<const char*>(one.raw()) + static_cast<size_t>(source) * size, size,
                static_cast<char*>(all.mutable_raw()) + static_cast<size_t>(i) * size);
  }
}

}  // namespace

Initializer::Initializer(Function function) {
  if (!function) return;
  function_ = [f = std::move(function)](Graph& g, const Shape& shape, DType dtype, const PartitionInfo*) {
    return f(g, shape, dtype);
  };
}

Fans fans_of(const Shape& shape) {
  if (shape.rank() == 0) return {};
  if (shape.rank() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double receptive_field = 1;
  for (int d = 0; d < shape.rank() - 2; ++d) receptive_field *= static_cast<double>(shape[d]);
  return {static_cast<double>(shape[-2]) * receptive_field, static_cast<double>(shape[-1]) * receptive_field};
}

Initializer zeros_initializer() {
  return Initializer::Function([](Graph& g, const Shape& shape, DType dtype) { return zeros(g, shape, dtype); });
}

Initializer ones_initializer() {
  return Initializer::Function([](Graph& g, const Shape& shape, DType dtype) { return ones(g, shape, dtype); });
}

Initializer constant_initializer(double value) {
  return Initializer::Function([value](Graph& g, const Shape& shape, DType dtype) {
    const bool whole = is_integer(dtype) && value == std::floor(value);
    Tensor one =
        convert_literal(whole ? Literal(static_cast<int64_t>(value)).tensor() : Literal(value).tensor(), dtype);
    Tensor all(dtype, shape);
    fill_elements(all, one, 0, 0);
    return g.constant(all);
  });
}

Initializer constant_initializer(const Tensor& value, bool verify_shape) {
  return Initializer::Function([value, verify_shape](Graph& g, const Shape& shape, DType dtype) {
    if (verify_shape && value.shape() != shape) {
      throw invalid_argument("Expected Tensor's shape: {}, got {}.", shape.str(), value.shape().str());
    }
    if (value.dtype() != dtype) {
      throw invalid_argument("the initial value is {}; the variable is {}", dtype_name(value.dtype()),
                             dtype_name(dtype));
    }
    Tensor all(dtype, shape);
    if (value.elements() > all.elements()) {
      throw invalid_argument("Too many elements provided. Needed at most {}, but received {}", all.elements(),
                             value.elements());
    }
    if (value.elements() == 0 && all.elements() > 0) throw invalid_argument("the initial value has no elements");
    std::copy_n(static_cast<const char*>(value.raw()), static_cast<size_t>(value.elements()) * dtype_size(dtype),
                static_cast<char*>(all.mutable_raw()));
    fill_elements(all, value, value.elements() - 1, value.elements());
    return g.constant(all);
  });
}

Initializer random_normal_initializer(float stddev, const RandomInitializerOptions& options) {
  return Initializer::Function([stddev, options](Graph& g, const Shape& shape, DType dtype) {
    return random_normal(g, shape, {.mean = options.mean, .stddev = stddev, .dtype = dtype, .seed = options.seed});
  });
}

Initializer truncated_normal_initializer(float stddev, const RandomInitializerOptions& options) {
  return Initializer::Function([stddev, options](Graph& g, const Shape& shape, DType dtype) {
    return truncated_normal(g, shape, {.mean = options.mean, .stddev = stddev, .dtype = dtype, .seed = options.seed});
  });
}

Initializer random_uniform_initializer(float minval, float maxval, std::optional<int64_t> seed) {
  return Initializer::Function([=](Graph& g, const Shape& shape, DType dtype) {
    return random_uniform(g, shape, {.minval = minval, .maxval = In(maxval), .dtype = dtype, .seed = seed});
  });
}

Initializer uniform_unit_scaling_initializer(float factor, std::optional<int64_t> seed) {
  return Initializer::PartFunction([=](Graph& g, const Shape& shape, DType dtype, const PartitionInfo* part) {
    const Shape& full = part ? part->full_shape : shape;
    double input_size = 1;
    for (int d = 0; d < full.rank() - 1; ++d) input_size *= static_cast<double>(full[d]);
    const double limit = std::sqrt(3 / std::max(input_size, 1.0)) * static_cast<double>(factor);
    return random_uniform(g, shape, {.minval = -limit, .maxval = In(limit), .dtype = dtype, .seed = seed});
  });
}

Initializer variance_scaling_initializer(const VarianceScaling& options) {
  if (options.scale <= 0) throw invalid_argument("`scale` must be positive float.");
  const std::string& mode = options.mode;
  if (mode != "fan_in" && mode != "fan_out" && mode != "fan_avg") {
    throw invalid_argument("Invalid `mode` argument: {}", mode);
  }
  const std::string& kind = options.distribution;
  if (kind != "normal" && kind != "uniform" && kind != "truncated_normal" && kind != "untruncated_normal") {
    throw invalid_argument("Invalid `distribution` argument: {}", kind);
  }
  return Initializer::PartFunction([options](Graph& g, const Shape& shape, DType dtype, const PartitionInfo* part) {
    const Fans fans = fans_of(part ? part->full_shape : shape);
    const double n = options.mode == "fan_in"    ? fans.in
                     : options.mode == "fan_out" ? fans.out
                                                 : (fans.in + fans.out) / 2;
    const double variance = options.scale / std::max(1.0, n);
    if (options.distribution == "uniform") {
      const double limit = std::sqrt(3 * variance);
      return random_uniform(g, shape, {.minval = -limit, .maxval = In(limit), .dtype = dtype, .seed = options.seed});
    }
    if (options.distribution == "untruncated_normal") {
      return random_normal(g, shape, {.mean = 0, .stddev = std::sqrt(variance), .dtype = dtype, .seed = options.seed});
    }
    // Cutting the tails off at two deviations leaves a normal distribution with this deviation.
    constexpr double kTruncatedDeviation = .87962566103423978;
    const double stddev = std::sqrt(variance) / kTruncatedDeviation;
    return truncated_normal(g, shape, {.mean = 0, .stddev = stddev, .dtype = dtype, .seed = options.seed});
  });
}

Initializer glorot_uniform_initializer(std::optional<int64_t> seed) {
  return variance_scaling_initializer({.mode = "fan_avg", .distribution = "uniform", .seed = seed});
}
Initializer glorot_normal_initializer(std::optional<int64_t> seed) {
  return variance_scaling_initializer({.mode = "fan_avg", .seed = seed});
}
Initializer he_normal(std::optional<int64_t> seed) { return variance_scaling_initializer({.scale = 2, .seed = seed}); }
Initializer he_uniform(std::optional<int64_t> seed) {
  return variance_scaling_initializer({.scale = 2, .distribution = "uniform", .seed = seed});
}
Initializer lecun_normal(std::optional<int64_t> seed) { return variance_scaling_initializer({.seed = seed}); }
Initializer lecun_uniform(std::optional<int64_t> seed) {
  return variance_scaling_initializer({.distribution = "uniform", .seed = seed});
}

Initializer identity_initializer(double gain) {
  return Initializer::PartFunction([gain](Graph& g, const Shape& shape, DType dtype, const PartitionInfo* part) {
    const Shape& full = part ? part->full_shape : shape;
    if (full.rank() != 2) throw invalid_argument("Identity matrix initializer can only be used for 2D matrices.");
    Output matrix = eye(g, full[0], {.num_columns = full[1], .dtype = dtype});
    if (part)
      matrix =
          slice(matrix, Tensor(part->offset), Tensor(std::vector<int64_t>(shape.dims().begin(), shape.dims().end())));
    return gain == 1 ? matrix : gain * matrix;
  });
}

}  // namespace weir
