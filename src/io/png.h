#pragma once

#include <cstdint>
#include <string>

namespace weir {

// A picture of 8 bits a channel, row by row: 1 channel is grey, 2 grey and alpha, 3 RGB, 4 RGBA.
struct Pixels {
  const uint8_t* data = nullptr;
  int64_t height = 0, width = 0, channels = 0;
};

// The picture as a PNG file. Throws InvalidArgument for an empty picture or one that the format cannot hold.
std::string encode_png(const Pixels& pixels);

}  // namespace weir
