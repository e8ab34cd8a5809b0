#pragma once

#include <cstdint>
#include <string>

namespace weir::testing {

struct DecodedPng {
  int64_t height = 0, width = 0, channels = 0;
  std::string pixels;
};

// Decodes a PNG file of 8 bits a channel that is not interlaced. Throws std::runtime_error when anything is wrong with
// it.
DecodedPng decode_png(const std::string& png);

}  // namespace weir::testing
