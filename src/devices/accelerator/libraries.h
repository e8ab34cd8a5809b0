#pragma once

#include <compare>
#include <cstdint>

#include "weir/dtype.h"

// What the libraries of a device's maker are asked for: cuBLAS, cuDNN, CLBlast. Everything lies row by row, without
// gaps.
namespace weir::accelerator {

// c[m,n] = a[m,k] b[k,n], either of them transposed in memory; `batch` of these, c's one behind the other.
struct Product {
  DType type = DType::Float32;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t a_batch = 0, b_batch = 0;  // elements from one matrix to the next; 0: one for all
};

// Images are [batch, channels, height, width], filters [out channels, in channels, height, width]. The padding is the
// same on both sides.
struct Convolution {
  // Forward: image, filter -> result. Input: result's gradient, filter -> image's. Filter: image, result's gradient ->
  // filter's.
  enum class Way { Forward, Input, Filter } way = Way::Forward;
  DType type = DType::Float32;
  int batch = 0, in_channels = 0, in_height = 0, in_width = 0;
  int out_channels = 0, out_height = 0, out_width = 0;
  int height = 1, width = 1;  // of the window
  int stride_height = 1, stride_width = 1, dilation_height = 1, dilation_width = 1;
  int pad_height = 0, pad_width = 0;
  auto operator<=>(const Convolution&) const = default;
};

}  // namespace weir::accelerator
