#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"

// Quantised numbers: integers that stand for steps between the ends of a range, which are tensors of their own.
namespace weir::ops {

inline constexpr std::string_view kQuantized = "{qint8,quint8,qint32,qint16,quint16}";

// Calls f with a value of the integer type that a quantised type is stored as.
template <class F>
void with_quantized(DType dtype, F&& f) {
  switch (dtype) {
    case DType::QInt8:
      return f(int8_t());
    case DType::QUInt8:
      return f(uint8_t());
    case DType::QInt16:
      return f(int16_t());
    case DType::QUInt16:
      return f(uint16_t());
    case DType::QInt32:
      return f(int32_t());
    default:
      throw error(Code::Unimplemented, "{} is no quantised type", dtype_name(dtype));
  }
}

template <class T>
inline constexpr double kSteps = static_cast<double>(std::numeric_limits<T>::max()) -
                                 static_cast<double>(std::numeric_limits<T>::lowest());

// A range as floats, and the two ways between floats and steps, as TensorFlow rounds them.
template <class T>
struct Quantization {
  float min, max;

  float to_float(T value) const {
    if (min == max) return min;
    const double scale = static_cast<double>(max - min) / kSteps<T>;
    const double first = std::round(min / static_cast<float>(scale)) * static_cast<float>(scale);
    return static_cast<float>(
        first + (static_cast<double>(value) - static_cast<double>(std::numeric_limits<T>::lowest())) * scale);
  }
  int64_t unclamped(float value) const {
    const auto lowest = static_cast<int64_t>(std::numeric_limits<T>::lowest());
    if (min == max) return lowest;
    const double scale = kSteps<T> / static_cast<double>(max - min);
    const double steps = std::round(value * scale) - std::round(min * scale);
    if (!(std::abs(steps) < 9e18))
      return steps > 0 ? std::numeric_limits<int64_t>::max() / 2 : std::numeric_limits<int64_t>::min() / 2;
    return static_cast<int64_t>(steps) + lowest;
  }
  T from_float(float value) const {
    return static_cast<T>(
        std::clamp<int64_t>(unclamped(value), std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()));
  }
  float one_step() const { return static_cast<float>((max - min) / static_cast<float>(kSteps<T>)); }
};

// The range that two inputs give. Throws InvalidArgument unless both are finite and in order.
template <class T>
Quantization<T> range_input(const KernelContext& c, int min_input, int max_input) {
  if (c.elements(min_input) != 1 || c.elements(max_input) != 1)
    throw invalid_argument("the ends of a range are single numbers");
  const Quantization<T> range{c.scalar<float>(min_input), c.scalar<float>(max_input)};
  if (!(std::isfinite(range.min) && std::isfinite(range.max)))
    throw invalid_argument("the range [{}, {}] is not finite", range.min, range.max);
  if (range.min > range.max) throw invalid_argument("the range [{}, {}] has no numbers", range.min, range.max);
  return range;
}

// Gives the ends of the range of the result, outputs 1 and 2.
inline void set_range(KernelContext& c, float min, float max, int first = 1) {
  *c.output<float>(first) = min;
  *c.output<float>(first + 1) = max;
}

// Inputs from `first` on are ends of ranges: single numbers.
inline void require_ranges(InferContext& c, int first, int count) {
  for (int i = first; i < first + count; ++i) c.require_scalar(i);
}

}  // namespace weir::ops
