#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
// After <cstdio>.
#include <jpeglib.h>

#include "tests/support/check_op.h"
#include "weir/error.h"
#include "weir/image_codecs.h"
#include "weir/records.h"

namespace weir {
namespace {

using testing::expect_error;

constexpr JpegSize kSize{32, 32};

// A picture whose channels are a ramp, as a JPEG file.
struct Encoding {
  J_COLOR_SPACE colours;
  int channels;
  JpegSize size = kSize;
  bool progressive = false;
};
std::string encode(const Encoding& encoding) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long length = 0;
  jpeg_mem_dest(&info, &bytes, &length);
  info.image_height = static_cast<JDIMENSION>(encoding.size.height);
  info.image_width = static_cast<JDIMENSION>(encoding.size.width);
  info.input_components = encoding.channels;
  info.in_color_space = encoding.colours;
  jpeg_set_defaults(&info);
  if (encoding.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  std::vector<uint8_t> row(static_cast<size_t>(encoding.size.width * encoding.channels));
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<uint8_t>(i / static_cast<size_t>(encoding.channels) * 5);
  JSAMPROW rows = row.data();
  while (info.next_scanline < info.image_height) jpeg_write_scanlines(&info, &rows, 1);
  jpeg_finish_compress(&info);
  std::string result(reinterpret_cast<char*>(bytes), length);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return result;
}

std::vector<uint8_t> decode(const std::string& jpeg) {
  std::vector<uint8_t> rgb(3 * 32 * 32);
  decode_jpeg(jpeg, kSize, rgb);
  return rgb;
}

// The JPEG file of the first test picture, from an independent encoder.
std::string real_jpeg() {
  RecordReader reader(WEIR_SOURCE_DIR "/tests/data/cifar10/test.tfrecord");
  std::string record;
  EXPECT_TRUE(reader.next(record));
  return Example::parse(record).bytes("image/encoded")[0];
}

TEST(Jpeg, DecodesToTensorFlowsPixels) {
  const std::vector<uint8_t> rgb = decode(real_jpeg());
  EXPECT_EQ(std::vector<int>(rgb.begin(), rgb.begin() + 3), (std::vector<int>{163, 141, 130}));
  EXPECT_EQ(std::vector<int>(rgb.end() - 3, rgb.end()), (std::vector<int>{82, 76, 80}));
  EXPECT_EQ(crc32(0, rgb.data(), static_cast<unsigned>(rgb.size())), 2111305568u);
}

TEST(Jpeg, DecodesProgressiveFiles) {
  EXPECT_EQ(decode(encode({.colours = JCS_RGB, .channels = 3, .progressive = true})),
            decode(encode({.colours = JCS_RGB, .channels = 3})));
}

TEST(Jpeg, GreyPicturesHaveThreeEqualChannels) {
  const std::vector<uint8_t> rgb = decode(encode({.colours = JCS_GRAYSCALE, .channels = 1}));
  EXPECT_GT(rgb[3 * 20], 80);
  for (size_t i = 0; i < rgb.size(); i += 3) {
    ASSERT_EQ(rgb[i], rgb[i + 1]);
    ASSERT_EQ(rgb[i], rgb[i + 2]);
  }
}

TEST(Jpeg, RefusesFourChannels) {
  expect_error([] { decode(encode({.colours = JCS_CMYK, .channels = 4})); }, Code::InvalidArgument, "4 channels");
}

TEST(Jpeg, RefusesOtherSizesBeforeItTakesMemory) {
  expect_error(
      [] {
        decode(encode({.colours = JCS_RGB, .channels = 3, .size = {31, 32}}));
      },
      Code::InvalidArgument, "31 x 32 pixels, expected 32 x 32");
  std::string huge = real_jpeg();
  const size_t frame = huge.find("\xff\xc0");  // length, precision, height and width follow
  ASSERT_NE(frame, std::string::npos);
  huge.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  expect_error([&] { decode(huge); }, Code::InvalidArgument, "65500 x 65500");
}

TEST(Jpeg, RefusesWhatIsNoJpeg) {
  for (const std::string& bytes : {std::string(), std::string("\xff\xd8"), std::string("GIF89a, not a JPEG file")}) {
    expect_error([&] { decode(bytes); }, Code::InvalidArgument, "no JPEG file");
  }
  expect_error([] { decode("\xff\xd8\xff"); }, Code::DataLoss, "damaged");
}

TEST(Jpeg, FilesThatAreCutShortAreDataLoss) {
  const std::string jpeg = real_jpeg();
  for (size_t length = 3; length < jpeg.size() - 1; ++length) {
    expect_error([&] { decode(jpeg.substr(0, length)); }, Code::DataLoss, "damaged");
  }
}

TEST(Jpeg, DecodesPartsAndSmallerPictures) {
  const std::string jpeg = real_jpeg();
  const Tensor whole = decode_jpeg(jpeg);
  ASSERT_EQ(whole.shape(), (Shape{32, 32, 3}));
  EXPECT_EQ(decode_jpeg(jpeg, {.channels = 1}).shape(), (Shape{32, 32, 1}));
  for (int64_t ratio : {2, 4, 8}) {
    EXPECT_EQ(decode_jpeg(jpeg, {.ratio = ratio}).shape(), (Shape{32 / ratio, 32 / ratio, 3}));
  }
  const Tensor part = decode_jpeg(jpeg, {.fancy_upscaling = false, .crop = JpegCrop{5, 7, 9, 11}});
  const Tensor plain = decode_jpeg(jpeg, {.fancy_upscaling = false});
  ASSERT_EQ(part.shape(), (Shape{9, 11, 3}));
  for (int64_t y = 0; y < 9; ++y) {
    for (int64_t i = 0; i < 33; ++i) {
      ASSERT_EQ(part.data<uint8_t>()[static_cast<size_t>(y * 33 + i)],
                plain.data<uint8_t>()[static_cast<size_t>((y + 5) * 96 + 21 + i)]);
    }
  }
  expect_error([&] { decode_jpeg(jpeg, {.crop = JpegCrop{30, 0, 5, 5}}); }, Code::InvalidArgument, "crop window");
  expect_error([&] { decode_jpeg(jpeg, {.channels = 4}); }, Code::InvalidArgument, "channels must be 0, 1, or 3");
  expect_error([&] { decode_jpeg(jpeg, {.ratio = 3}); }, Code::InvalidArgument, "ratio must be 1, 2, 4, or 8");
}

TEST(Jpeg, InksBecomeColours) {
  const Tensor pixels = decode_jpeg(encode({.colours = JCS_CMYK, .channels = 4}));
  ASSERT_EQ(pixels.shape(), (Shape{32, 32, 3}));
  // All four inks are a ramp: the more of them, the darker. The encoder says that it is Adobe's, which turns them
  // around.
  EXPECT_LT(pixels.data<uint8_t>()[0], 20);
  EXPECT_GT(pixels.data<uint8_t>()[31 * 3], 60);
}

TEST(Jpeg, RecoversTheBeginningOfAFileIfAskedTo) {
  const std::string jpeg = encode({.colours = JCS_RGB, .channels = 3, .size = {64, 64}});
  const std::string cut = jpeg.substr(0, jpeg.size() * 3 / 4);
  expect_error([&] { decode_jpeg(cut); }, Code::InvalidArgument, "Invalid JPEG data");
  const Tensor recovered = decode_jpeg(cut, {.try_recover_truncated = true});
  const Tensor partly = decode_jpeg(cut, {.acceptable_fraction = 0.1f});
  const Tensor whole = decode_jpeg(jpeg);
  for (const Tensor& pixels : {recovered, partly}) {
    ASSERT_EQ(pixels.shape(), (Shape{64, 64, 3}));
    EXPECT_TRUE(std::equal(pixels.data<uint8_t>().begin(), pixels.data<uint8_t>().begin() + 8 * 64 * 3,
                           whole.data<uint8_t>().begin()));
  }
  EXPECT_EQ(partly.data<uint8_t>().back(), 0);
}

TEST(Jpeg, ShapesComeFromTheHeader) {
  const JpegShape shape = jpeg_shape(real_jpeg());
  EXPECT_EQ(shape.height, 32);
  EXPECT_EQ(shape.width, 32);
  EXPECT_EQ(shape.channels, 3);
  expect_error([] { jpeg_shape("no"); }, Code::InvalidArgument, "no JPEG file");
}

TEST(Jpeg, GivesBackSmoothPictures) {
  for (int64_t channels : {1, 3}) {
    Tensor pixels(uint8, {16, 24, channels});
    for (int64_t i = 0; i < pixels.elements(); ++i) {
      pixels.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(40 + i / channels % 24 * 5);
    }
    for (bool progressive : {false, true}) {
      const std::string jpeg = encode_jpeg(pixels, {.quality = 100,
                                                    .progressive = progressive,
                                                    .optimize_size = true,
                                                    .chroma_downsampling = false,
                                                    .xmp_metadata = "here"});
      EXPECT_NE(jpeg.find("http://ns.adobe.com/xap/1.0/"), std::string::npos);
      const Tensor back = decode_jpeg(jpeg, {.accurate_dct = true});
      ASSERT_EQ(back.shape(), pixels.shape());
      for (size_t i = 0; i < back.data<uint8_t>().size(); ++i) {
        ASSERT_NEAR(back.data<uint8_t>()[i], pixels.data<uint8_t>()[i], 3);
      }
    }
  }
  expect_error([] { encode_jpeg(Tensor(uint8, {2, 2, 2})); }, Code::InvalidArgument, "1 or 3 channels");
  expect_error([] { encode_jpeg(Tensor(uint8, {0, 2, 3})); }, Code::Internal, "JPEG encoding failed");
  expect_error(
      [] {
        encode_jpeg(Tensor::zeros(uint8, {2, 2, 3}), {.quality = 101});
      },
      Code::InvalidArgument, "[0,100]");
}

TEST(Jpeg, AFewBytesCannotAskForGigabytes) {
  std::string huge = real_jpeg();
  const size_t frame = huge.find("\xff\xc0");
  huge.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  expect_error([&] { decode_jpeg(huge); }, Code::InvalidArgument, "too large");
  huge.replace(frame + 5, 4, std::string("\x20\x00\x20\x00", 4));
  expect_error([&] { decode_jpeg(huge); }, Code::InvalidArgument, "too short for 8192 x 8192 pixels");
}

TEST(Jpeg, DamagedFilesGiveAnErrorOrAPicture) {
  const std::string jpeg = real_jpeg();
  int refused = 0;
  for (size_t at = 0; at < jpeg.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = jpeg;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      try {
        decode_jpeg(damaged);
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::InvalidArgument) << e.what();
      }
      try {
        decode(damaged);
      } catch (const Error& e) {
        ++refused;
        EXPECT_TRUE(e.code() == Code::DataLoss || e.code() == Code::InvalidArgument) << e.what();
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace weir
