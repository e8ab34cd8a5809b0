#include "io/png.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/errors.h"
#include "weir/shape.h"

namespace weir {
namespace {

void append_big_endian(std::string& to, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(value >> shift);
}

void append_chunk(std::string& png, const std::string& type, const std::string& data) {
  append_big_endian(png, static_cast<uint32_t>(data.size()));
  const size_t begin = png.size();
  png += type;
  png += data;
  append_big_endian(
      png, static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(png.data() + begin), png.size() - begin)));
}

// Of left, above and left above: the one nearest to left + above - (left above).
int paeth(int a, int b, int c) {
  int da = std::abs(b - c), db = std::abs(a - c), dc = std::abs(a + b - 2 * c);
  return da <= db && da <= dc ? a : db <= dc ? b : c;
}

constexpr size_t kFilters = 5;
constexpr char kColourTypes[] = {0, 4, 2, 6};  // by channels - 1

int predict(size_t filter, int left, int above, int left_above) {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) / 2;
    case 4:
      return paeth(left, above, left_above);
    default:
      return 0;
  }
}

// Replaces bytes by their differences from neighbours, row by row in the way that leaves the smallest differences:
// those compress best.
std::string filtered(const Pixels& pixels) {
  const size_t row_bytes = static_cast<size_t>(pixels.width * pixels.channels);
  const auto step = static_cast<size_t>(pixels.channels);
  std::string result;
  result.reserve(static_cast<size_t>(pixels.height) * (row_bytes + 1));
  std::array<std::string, kFilters> candidates;
  const std::vector<uint8_t> nothing(row_bytes);
  const uint8_t* previous = nothing.data();
  for (int64_t y = 0; y < pixels.height; ++y) {
    const uint8_t* row = pixels.data + static_cast<size_t>(y) * row_bytes;
    size_t best = 0;
    int64_t best_cost = std::numeric_limits<int64_t>::max();
    for (size_t filter = 0; filter < kFilters; ++filter) {
      std::string& candidate = candidates[filter];
      candidate.assign(1, static_cast<char>(filter));
      int64_t cost = 0;
      for (size_t i = 0; i < row_bytes; ++i) {
        bool first = i < step;
        auto difference = static_cast<int8_t>(
            row[i] - predict(filter, first ? 0 : row[i - step], previous[i], first ? 0 : previous[i - step]));
        candidate += static_cast<char>(difference);
        cost += std::abs(difference);
      }
      if (cost < best_cost) {
        best = filter;
        best_cost = cost;
      }
    }
    result += candidates[best];
    previous = row;
  }
  return result;
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
               bytes.size()) != Z_OK) {
    throw error(Code::ResourceExhausted, "no memory to compress a picture");
  }
  packed.resize(size);
  return packed;
}

}  // namespace

std::string encode_png(const Pixels& pixels) {
  const int64_t largest = std::numeric_limits<int32_t>::max();
  if (pixels.channels < 1 || pixels.channels > 4) throw invalid_argument("a PNG has no {} channels", pixels.channels);
  if (pixels.height < 1 || pixels.width < 1 || pixels.height > largest || pixels.width > largest ||
      checked_multiply(checked_multiply(pixels.height, pixels.width), pixels.channels) > largest / 2) {
    throw invalid_argument("a PNG cannot have {} x {} pixels", pixels.height, pixels.width);
  }
  std::string header;
  append_big_endian(header, static_cast<uint32_t>(pixels.width));
  append_big_endian(header, static_cast<uint32_t>(pixels.height));
  header += {8, kColourTypes[pixels.channels - 1], 0, 0, 0};  // bits, colour, deflate, filters, not interlaced
  std::string png = "\x89PNG\r\n\x1a\n";
  append_chunk(png, "IHDR", header);
  append_chunk(png, "IDAT", deflated(filtered(pixels)));
  append_chunk(png, "IEND", {});
  return png;
}

}  // namespace weir
