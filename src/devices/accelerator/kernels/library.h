#pragma once

#include "devices/accelerator/launch.h"
#include "ops/nn/window.h"

namespace weir::accelerator {

// By the libraries of the device's maker. False: the core's own kernels have to.
bool multiply_by_library(const Product& p, const void* a, const void* b, void* c);
// The arguments in the order of Convolution::Way, as the operations have them: images in either layout, filters
// [height, width, in, out].
bool convolve_by_library(Convolution::Way way, const ops::ConvGeometry& geometry, DType type, const void* first,
                         const void* second, void* result);

// What libraries do not do: y = activation(y + bias), in place, where one of `channels` holds for `inner` elements
// side by side. Nothing without bias and activation.
void finish_channels(DType type, void* y, int64_t n, int64_t inner, int64_t channels, const void* bias,
                     int32_t activation);

}  // namespace weir::accelerator
