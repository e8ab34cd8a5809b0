#include <gtest/gtest.h>

#include <string>

#include "tests/support/check_op.h"
#include "weir/error.h"
#include "weir/image_codecs.h"

namespace weir {
namespace {

using testing::expect_error;
using namespace std::literals;

// A film of 2 x 2 pixels with the palette black, red, green, blue: pixels 0 1 2 3, then a frame of one pixel at (1, 0).
// Codes have three bits and begin with a clear code (4), so that none ever grows; 5 is the end.
const std::string kHeader =
    "GIF89a\x02\x00\x02\x00\xa1\x00\x00"s
    "\x00\x00\x00\xff\x00\x00\x00\xff\x00\x00\x00\xff"s;
const std::string kFirst = ",\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x03\x44\x34\x05\x00"s;
const std::string kSecond = ",\x01\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x5c\x01\x00"s;

TEST(Gif, FramesLieOverEachOther) {
  const Tensor film = decode_gif(kHeader + kFirst + kSecond + ";");
  const std::vector<uint8_t> first = {0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255};
  ASSERT_EQ(film.shape(), (Shape{2, 2, 2, 3}));
  const auto pixels = film.data<uint8_t>();
  EXPECT_EQ(std::vector<uint8_t>(pixels.begin(), pixels.begin() + 12), first);
  EXPECT_EQ(std::vector<uint8_t>(pixels.begin() + 12, pixels.begin() + 15), (std::vector<uint8_t>{0, 0, 0}));
  EXPECT_EQ(std::vector<uint8_t>(pixels.begin() + 15, pixels.begin() + 18), (std::vector<uint8_t>{0, 0, 255}));
  EXPECT_EQ(std::vector<uint8_t>(pixels.begin() + 18, pixels.end()),
            std::vector<uint8_t>(first.begin() + 6, first.end()));
}

TEST(Gif, RefusesDamagedFiles) {
  const std::string gif = kHeader + kFirst + kSecond + ";";
  for (size_t length = 0; length < gif.size(); ++length) {
    expect_error([&] { decode_gif(gif.substr(0, length)); }, Code::InvalidArgument, "Invalid GIF data");
  }
  expect_error([&] { decode_gif(kHeader + ";"); }, Code::InvalidArgument, "does not contain any image");
  expect_error([&] { decode_gif(kHeader + kSecond + kFirst + ";"); }, Code::InvalidArgument, "first frame");
  for (size_t at = 0; at < gif.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = gif;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      try {
        decode_gif(damaged);
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::InvalidArgument) << e.what();
      }
    }
  }
}

TEST(Gif, AFewBytesCannotAskForGigabytes) {
  std::string gif = kHeader + kFirst + ";";
  gif.replace(kHeader.size() + 5, 4, "\xff\xff\xff\xff");
  expect_error([&] { decode_gif(gif); }, Code::InvalidArgument, "65535 x 65535 pixels does not fit");
}

// A header of 54 bytes, and rows that are filled up to four bytes.
std::string bmp(int width, int height, int bits, const std::string& rows) {
  std::string file(54, '\0');
  file.replace(0, 2, "BM");
  file[10] = 54;
  file[14] = 40;
  file[18] = static_cast<char>(width);
  for (size_t i = 0; i < 4; ++i) file[22 + i] = static_cast<char>(height >> (8 * i));
  file[26] = 1;
  file[28] = static_cast<char>(bits);
  return file + rows;
}

TEST(Bmp, RowsGoUpAndColoursBackwards) {
  const std::string rows = "\x01\x02\x03\x04\x05\x06\x00\x00\x11\x12\x13\x14\x15\x16\x00\x00"s;
  const Tensor upwards = Tensor::from<uint8_t>({0x13, 0x12, 0x11, 0x16, 0x15, 0x14, 3, 2, 1, 6, 5, 4}, {2, 2, 3});
  testing::expect_same(decode_bmp(bmp(2, 2, 24, rows)), upwards);
  const Tensor downwards = Tensor::from<uint8_t>({3, 2, 1, 6, 5, 4, 0x13, 0x12, 0x11, 0x16, 0x15, 0x14}, {2, 2, 3});
  testing::expect_same(decode_bmp(bmp(2, -2, 24, rows)), downwards);
  testing::expect_same(decode_bmp(bmp(1, 1, 32, "\x01\x02\x03\x04"), 4),
                       Tensor::from<uint8_t>({3, 2, 1, 4}, {1, 1, 4}));
  testing::expect_same(decode_bmp(bmp(2, 1, 8, "\x07\x08\x00\x00"s)), Tensor::from<uint8_t>({7, 8}, {1, 2, 1}));
}

TEST(Bmp, RefusesDamagedFiles) {
  const std::string file = bmp(1, 1, 24, "\x01\x02\x03");
  expect_error([&] { decode_bmp(file.substr(0, 20)); }, Code::InvalidArgument, "Incomplete bmp content");
  expect_error([&] { decode_bmp(file.substr(0, 56)); }, Code::InvalidArgument, "requires at least 57 bytes, got 56");
  expect_error([&] { decode_bmp(file, 4); }, Code::InvalidArgument, "does not match bits per pixel");
  expect_error([&] { decode_bmp(bmp(1, 1, 16, "\x01\x02\x03\x04")); }, Code::InvalidArgument,
               "must be 1, 3 or 4, was 2");
  expect_error([&] { decode_bmp(bmp(0, 1, 24, "\x01\x02\x03")); }, Code::InvalidArgument, "Width must be positive");
  std::string huge = file;
  huge.replace(18, 8, "\xff\xff\xff\x7f\xff\xff\xff\x7f");
  expect_error([&] { decode_bmp(huge); }, Code::InvalidArgument, "less than 2^30");
}

}  // namespace
}  // namespace weir
