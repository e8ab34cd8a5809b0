#include "io/png.h"

#include <gtest/gtest.h>

#include "tests/support/decode_png.h"
#include "weir/error.h"

namespace weir {
namespace {

TEST(Png, GivesBackThePixels) {
  for (int64_t channels = 1; channels <= 4; ++channels) {
    for (auto [height, width] : {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {17, 2}, {40, 61}}) {
      std::vector<uint8_t> pixels;
      for (int64_t i = 0; i < height * width * channels; ++i) {
        // Smooth at the top and noise at the bottom, so that rows choose different filters.
        bool smooth = i < height * width * channels / 2;
        pixels.push_back(static_cast<uint8_t>(smooth ? i / 3 + i % channels * 50 : (i * 2654435761) >> 7));
      }
      std::string png = encode_png({pixels.data(), height, width, channels});
      testing::DecodedPng decoded = testing::decode_png(png);
      EXPECT_EQ(decoded.height, height);
      EXPECT_EQ(decoded.width, width);
      EXPECT_EQ(decoded.channels, channels);
      EXPECT_EQ(decoded.pixels, std::string(pixels.begin(), pixels.end())) << channels << " " << height;
    }
  }
}

TEST(Png, RejectsWhatTheFormatCannotHold) {
  uint8_t pixel = 0;
  EXPECT_THROW(encode_png({&pixel, 0, 1, 1}), Error);
  EXPECT_THROW(encode_png({&pixel, 1, 0, 1}), Error);
  EXPECT_THROW(encode_png({&pixel, 1, 1, 5}), Error);
  EXPECT_THROW(encode_png({&pixel, int64_t{1} << 40, int64_t{1} << 40, 4}), Error);
}

}  // namespace
}  // namespace weir
