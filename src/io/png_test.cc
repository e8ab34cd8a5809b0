#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "tests/support/decode_png.h"
#include "weir/error.h"
#include "weir/image_codecs.h"

namespace weir {
namespace {

using testing::expect_error;

// Smooth at the top and noise at the bottom, so that rows choose different filters.
template <class T>
Tensor picture(int64_t height, int64_t width, int64_t channels) {
  Tensor pixels(dtype_of<T>, {height, width, channels});
  for (int64_t i = 0; i < pixels.elements(); ++i) {
    const bool smooth = i < pixels.elements() / 2;
    pixels.mutable_data<T>()[i] = static_cast<T>(smooth ? i / 3 + i % channels * 50 : (i * 2654435761) >> 7);
  }
  return pixels;
}

TEST(Png, GivesBackThePixels) {
  for (int64_t channels = 1; channels <= 4; ++channels) {
    for (auto [height, width] : {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {17, 2}, {40, 61}}) {
      for (int64_t compression : {-1, 0, 9}) {
        const Tensor pixels = picture<uint8_t>(height, width, channels);
        const std::string png = encode_png(pixels, compression);
        testing::expect_same(decode_png(png), pixels);
        // By a decoder that shares nothing with the encoder.
        const testing::DecodedPng decoded = testing::decode_png(png);
        EXPECT_EQ(decoded.channels, channels);
        const auto bytes = pixels.data<uint8_t>();
        EXPECT_EQ(decoded.pixels, std::string(bytes.begin(), bytes.end())) << channels << " " << height;
        const Tensor wide = picture<uint16_t>(height, width, channels);
        testing::expect_same(decode_png(encode_png(wide, compression), 0, uint16), wide);
      }
    }
  }
}

TEST(Png, ConvertsBetweenDepthsAndChannels) {
  const Tensor grey = Tensor::from<uint8_t>({0, 100, 255}, {1, 3, 1});
  const std::string file = encode_png(grey);
  testing::expect_same(decode_png(file, 3), Tensor::from<uint8_t>({0, 0, 0, 100, 100, 100, 255, 255, 255}, {1, 3, 3}));
  testing::expect_same(decode_png(file, 4),
                       Tensor::from<uint8_t>({0, 0, 0, 255, 100, 100, 100, 255, 255, 255, 255, 255}, {1, 3, 4}));
  testing::expect_same(decode_png(file, 0, uint16), Tensor::from<uint16_t>({0, 25700, 65535}, {1, 3, 1}));
  const Tensor wide = Tensor::from<uint16_t>({0x1234, 0xffff}, {1, 2, 1});
  testing::expect_same(decode_png(encode_png(wide)), Tensor::from<uint8_t>({0x12, 0xff}, {1, 2, 1}));
  const Tensor colours = Tensor::from<uint8_t>({255, 0, 0, 9, 255, 255, 255, 9}, {1, 2, 4});
  testing::expect_same(decode_png(encode_png(colours), 1), Tensor::from<uint8_t>({76, 255}, {1, 2, 1}));
}

TEST(Png, RejectsWhatTheFormatCannotHold) {
  EXPECT_THROW(encode_png(Tensor(uint8, {0, 1, 1})), Error);
  EXPECT_THROW(encode_png(Tensor(uint8, {1, 0, 1})), Error);
  EXPECT_THROW(encode_png(Tensor(uint8, {1, 1, 5})), Error);
  EXPECT_THROW(encode_png(Tensor(float32, {1, 1, 1})), Error);
  EXPECT_THROW(encode_png(Tensor(uint8, {1, 1, 1}), 10), Error);
}

TEST(Png, RefusesDamagedFiles) {
  const std::string png = encode_png(picture<uint8_t>(20, 30, 3));
  for (size_t length = 0; length < png.size() - 1; ++length) {
    EXPECT_THROW(decode_png(png.substr(0, length)), Error) << length;
  }
  for (size_t at = 0; at < png.size(); ++at) {
    std::string damaged = png;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    try {
      decode_png(damaged);  // what the checksums do not cover may pass
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::InvalidArgument) << e.what();
    }
  }
}

TEST(Png, AFewBytesCannotAskForGigabytes) {
  std::string png = encode_png(picture<uint8_t>(1, 1, 3));
  // Width and height of the header, whose checksum is set anew.
  png.replace(16, 8, std::string("\x00\x00\x50\x00\x00\x00\x50\x00", 8));
  const std::string header = png.substr(12, 17);
  uint32_t crc = 0xffffffff;
  for (char c : header) {
    crc ^= static_cast<uint8_t>(c);
    for (int k = 0; k < 8; ++k) crc = crc & 1 ? 0xedb88320 ^ (crc >> 1) : crc >> 1;
  }
  crc = ~crc;
  for (int i = 0; i < 4; ++i) png[static_cast<size_t>(29 + i)] = static_cast<char>(crc >> (24 - 8 * i));
  expect_error([&] { decode_png(png); }, Code::InvalidArgument, "too short for 20480 x 20480 pixels");
}

}  // namespace
}  // namespace weir
