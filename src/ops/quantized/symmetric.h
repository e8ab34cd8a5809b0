#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/quantized/quantization.h"

// Quantised numbers whose zero is step 0, as the fused operations of TensorFlow's MKL kernels have them: a step is the
// larger end of the range divided by the largest step.
namespace weir::ops {

inline float larger_end(float min, float max) { return std::max(std::abs(min), std::abs(max)); }

// What 8 bits can count to on either side of zero.
inline float symmetric_limit(DType dtype) { return dtype == DType::QUInt8 ? 255.0f : 127.0f; }

// A number of either side as a step, rounded to even and cut off at the ends.
template <class T>
T to_step(float value) {
  if (std::isnan(value)) return T();
  const double low = static_cast<double>(std::numeric_limits<T>::lowest()),
               high = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(std::clamp<double>(std::nearbyint(value), low, high));
}

// The width of a step when the range is divided evenly; that of signed numbers leaves out the lowest.
inline float even_step(DType dtype, float min, float max) {
  return (max - min) / (dtype == DType::QUInt8 ? 255.0f : 254.0f);
}

// The ends of the 32-bit range whose step is `step`.
inline float lowest_of_32_bits(float step) { return step * static_cast<float>(std::numeric_limits<int32_t>::lowest()); }
inline float highest_of_32_bits(float step) { return step * static_cast<float>(std::numeric_limits<int32_t>::max()); }

// What becomes of sums of products: for each channel the summand in 32 bits, and the scale of the result.
struct Epilogue {
  std::vector<int64_t> bias;  // empty: none
  bool relu = false;
  std::vector<float> scales;  // for 8-bit results, one or one for each channel; empty: sums stay as they are

  int64_t sum(int64_t products, int64_t channel) const {
    return bias.empty() ? products : products + bias[static_cast<size_t>(channel)];
  }
  float scaled(int64_t sum, int64_t channel) const {
    return static_cast<float>(sum) * scales[scales.size() == 1 ? 0 : static_cast<size_t>(channel)];
  }
};

inline int32_t saturated(int64_t value) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(value, std::numeric_limits<int32_t>::lowest(), std::numeric_limits<int32_t>::max()));
}

}  // namespace weir::ops
