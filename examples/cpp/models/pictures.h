#pragma once

#include <string>

#include "weir/tensor.h"

namespace weir::examples {

// Writes sixteen pictures of 28 by 28 numbers in [0, 1], float [16 or more, ...], side by side in four rows as a .pgm
// file. Throws InvalidArgument for fewer, NotFound when the file cannot be written.
void write_digits(const std::string& path, const Tensor& pictures);

}  // namespace weir::examples
