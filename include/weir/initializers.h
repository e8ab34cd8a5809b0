#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

// Which part of a variable cut into parts is to begin.
struct PartitionInfo {
  Shape full_shape;
  std::vector<int64_t> offset;
};

// How a variable begins: a function of its shape and type, or a value.
class WEIR_API Initializer {
 public:
  using Function = std::function<Output(Graph&, const Shape&, DType)>;
  // One that also wants to know the part; null for a whole variable.
  using PartFunction = std::function<Output(Graph&, const Shape&, DType, const PartitionInfo*)>;
  Initializer() = default;         // none: the scope's, or by default uniform (Glorot)
  Initializer(Function function);  // NOLINT
  Initializer(PartFunction function) : function_(std::move(function)) {}  // NOLINT
  Initializer(const In& value) : value_(value) {}                         // NOLINT
  template <class T>
  requires std::is_arithmetic_v<T> Initializer(T value, In::Where where = In::Where::current())
      : value_(In(value, where)) {}                                                                       // NOLINT
  Initializer(const Tensor& value, In::Where where = In::Where::current()) : value_(In(value, where)) {}  // NOLINT

  explicit operator bool() const { return function_ || value_; }
  bool is_function() const { return static_cast<bool>(function_); }
  Output operator()(Graph& graph, const Shape& shape, DType dtype, const PartitionInfo* part = nullptr) const {
    return function_(graph, shape, dtype, part);
  }
  const std::optional<In>& value() const { return value_; }

 private:
  PartFunction function_;
  std::optional<In> value_;
};

WEIR_API Initializer zeros_initializer();
WEIR_API Initializer ones_initializer();
WEIR_API Initializer constant_initializer(double value);
// A value for every element, in order; what is missing repeats the last one.
WEIR_API Initializer constant_initializer(const Tensor& value, bool verify_shape = false);

struct RandomInitializerOptions {
  float mean = 0;
  std::optional<int64_t> seed = {};
};
WEIR_API Initializer random_normal_initializer(float stddev = 1, const RandomInitializerOptions& options = {});
WEIR_API Initializer truncated_normal_initializer(float stddev = 1, const RandomInitializerOptions& options = {});
WEIR_API Initializer random_uniform_initializer(float minval = 0, float maxval = 1,
                                                std::optional<int64_t> seed = std::nullopt);
WEIR_API Initializer uniform_unit_scaling_initializer(float factor = 1, std::optional<int64_t> seed = std::nullopt);

// Draws with the variance scale / n, n being the number of inputs of a unit, of its outputs, or their mean.
struct VarianceScaling {
  double scale = 1;
  std::string mode = "fan_in";                    // or "fan_out", "fan_avg"
  std::string distribution = "truncated_normal";  // or "normal" (the same), "untruncated_normal", "uniform"
  std::optional<int64_t> seed = {};
};
WEIR_API Initializer variance_scaling_initializer(const VarianceScaling& options = {});
// Keeps the size of signals and gradients through a layer (Glorot and Bengio, 2010); also called Xavier.
WEIR_API Initializer glorot_uniform_initializer(std::optional<int64_t> seed = std::nullopt);
WEIR_API Initializer glorot_normal_initializer(std::optional<int64_t> seed = std::nullopt);
WEIR_API Initializer he_normal(std::optional<int64_t> seed = std::nullopt);
WEIR_API Initializer he_uniform(std::optional<int64_t> seed = std::nullopt);
WEIR_API Initializer lecun_normal(std::optional<int64_t> seed = std::nullopt);
WEIR_API Initializer lecun_uniform(std::optional<int64_t> seed = std::nullopt);
WEIR_API Initializer identity_initializer(double gain = 1);

// How many inputs and outputs a unit of a layer with weights of this shape has: [..., in, out].
struct Fans {
  double in = 1, out = 1;
};
WEIR_API Fans fans_of(const Shape& shape);

}  // namespace weir
