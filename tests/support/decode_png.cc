#include "tests/support/decode_png.h"

#include <zlib.h>

#include <cstdlib>
#include <stdexcept>

namespace weir::testing {
namespace {

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

uint32_t big_endian(const std::string& bytes, size_t at) {
  require(at + 4 <= bytes.size(), "cut short");
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

int prediction(int filter, int left, int above, int corner) {
  int estimate = left + above - corner;
  int to_left = std::abs(estimate - left), to_above = std::abs(estimate - above),
      to_corner = std::abs(estimate - corner);
  switch (filter) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) / 2;
    default:
      return to_left <= to_above && to_left <= to_corner ? left : to_above <= to_corner ? above : corner;
  }
}

}  // namespace

DecodedPng decode_png(const std::string& png) {
  require(png.substr(0, 8) == "\x89PNG\r\n\x1a\n", "no PNG file");
  DecodedPng image;
  std::string packed;
  bool ended = false;
  for (size_t at = 8; at < png.size();) {
    const size_t size = big_endian(png, at);
    const std::string type = png.substr(at + 4, 4);
    const std::string data = png.substr(at + 8, size);
    const std::string checked = type + data;
    require(data.size() == size, "a chunk is cut short");
    require(crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())) ==
                big_endian(png, at + 8 + size),
            "a chunk's checksum is wrong");
    at += size + 12;
    if (type == "IHDR") {
      image.width = big_endian(data, 0);
      image.height = big_endian(data, 4);
      require(data.substr(8, 1) == "\x08" && data.substr(10) == std::string(3, '\0'), "an unusual header");
      image.channels = data[9] == 0 ? 1 : data[9] == 4 ? 2 : data[9] == 2 ? 3 : 4;
    } else if (type == "IDAT") {
      packed += data;
    } else if (type == "IEND") {
      ended = at == png.size();
    }
  }
  require(ended, "no end");

  const auto row = static_cast<size_t>(image.width * image.channels), step = static_cast<size_t>(image.channels);
  std::string rows(static_cast<size_t>(image.height) * (row + 1), '\0');
  uLongf unpacked = rows.size();
  require(uncompress(reinterpret_cast<Bytef*>(rows.data()), &unpacked, reinterpret_cast<const Bytef*>(packed.data()),
                     packed.size()) == Z_OK &&
              unpacked == rows.size(),
          "the pixels do not unpack");
  auto pixel = [&](size_t y, size_t i) { return static_cast<unsigned char>(image.pixels[y * row + i]); };
  for (size_t y = 0; y < static_cast<size_t>(image.height); ++y) {
    const int filter = rows[y * (row + 1)];
    require(filter >= 0 && filter <= 4, "an unknown filter");
    for (size_t i = 0; i < row; ++i) {
      int left = i < step ? 0 : pixel(y, i - step), above = y == 0 ? 0 : pixel(y - 1, i);
      int corner = i < step || y == 0 ? 0 : pixel(y - 1, i - step);
      image.pixels += static_cast<char>(rows[y * (row + 1) + 1 + i] + prediction(filter, left, above, corner));
    }
  }
  return image;
}

}  // namespace weir::testing
