#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "weir/export.h"

namespace weir {

struct JpegSize {
  int64_t height = 0, width = 0;
  bool operator==(const JpegSize&) const = default;
};

// Decodes into `rgb`, row by row with 3 bytes a pixel; grey pictures have three equal channels. Throws InvalidArgument
// when the bytes are no JPEG file, the picture is not of `size` (before any memory is taken for it) or its colours are
// not grey, YCbCr or RGB; DataLoss for a damaged file or one that is cut short, after which `rgb` holds anything.
// REQUIRES: rgb.size() == 3 * size.height * size.width.
WEIR_API void decode_jpeg(std::string_view jpeg, JpegSize size, std::span<uint8_t> rgb);

}  // namespace weir
