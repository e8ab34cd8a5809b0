#include "weir/image.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/check_op.h"
#include "weir/image_codecs.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::image {
namespace {

using testing::expect_error;
using testing::expect_near;
using testing::expect_same;

Tensor ramp(const Shape& shape, double first = 0, double step = 1) {
  return testing::converted(testing::ramp(shape, first, step), float32);
}

// What `function` gives for a picture whose shape is known, and for one of which nothing is.
template <class Function>
Tensor both(const Tensor& picture, Function function) {
  Graph g;
  Output known = function(g.constant(picture));
  Output fed = g.placeholder(picture.dtype());
  Output unknown = function(fed);
  Session session(g);
  const auto results = session.run({known, unknown}, {{fed, picture}});
  expect_same(results[0], results[1]);
  EXPECT_TRUE(known.shape().compatible(results[0].shape()));
  return results[0];
}

TEST(Image, FlipsAndTurns) {
  const Tensor picture = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3, 1});
  expect_same(both(picture, [](Output x) { return flip_left_right(x); }),
              Tensor::from<float>({3, 2, 1, 6, 5, 4}, {2, 3, 1}));
  expect_same(both(picture, [](Output x) { return flip_up_down(x); }),
              Tensor::from<float>({4, 5, 6, 1, 2, 3}, {2, 3, 1}));
  expect_same(both(picture, [](Output x) { return image::transpose(x); }),
              Tensor::from<float>({1, 4, 2, 5, 3, 6}, {3, 2, 1}));
  expect_same(both(picture, [](Output x) { return rot90(x); }), Tensor::from<float>({3, 6, 2, 5, 1, 4}, {3, 2, 1}));
  expect_same(both(picture, [](Output x) { return rot90(x, 2); }), Tensor::from<float>({6, 5, 4, 3, 2, 1}, {2, 3, 1}));
  expect_same(both(picture, [](Output x) { return rot90(x, 7); }), Tensor::from<float>({4, 1, 5, 2, 6, 3}, {3, 2, 1}));
}

TEST(Image, CropsAndPads) {
  const Tensor picture = ramp({4, 4, 1});
  expect_same(both(picture,
                   [](Output x) {
                     return crop_to_bounding_box(x, {1, 2, 2, 2});
                   }),
              Tensor::from<float>({6, 7, 10, 11}, {2, 2, 1}));
  expect_same(both(Tensor::from<float>({1}, {1, 1, 1}),
                   [](Output x) {
                     return pad_to_bounding_box(x, {1, 0, 2, 2});
                   }),
              Tensor::from<float>({0, 0, 1, 0}, {2, 2, 1}));
  expect_same(both(picture, [](Output x) { return resize_with_crop_or_pad(x, 2, 6); }),
              Tensor::from<float>({0, 4, 5, 6, 7, 0, 0, 8, 9, 10, 11, 0}, {2, 6, 1}));
  Graph g;
  Output x = g.constant(picture);
  Output fraction = central_crop(x, 0.5);
  EXPECT_EQ(fraction.shape(), (Shape{2, 2, 1}));
  expect_same(Session(g).run({fraction}), Tensor::from<float>({5, 6, 9, 10}, {2, 2, 1}));
  expect_error([&] { crop_to_bounding_box(x, {3, 0, 2, 2}); }, Code::InvalidArgument, "height must be >= target");
  expect_error([&] { pad_to_bounding_box(x, {0, 0, 2, 9}); }, Code::InvalidArgument, "height must be <= target");
  expect_error([&] { resize_with_crop_or_pad(x, 0, 3); }, Code::InvalidArgument, "target_height must be > 0");
  expect_error([&] { central_crop(x, 1.5); }, Code::InvalidArgument, "central_fraction");
  expect_error([&] { flip_left_right(g.constant(Tensor(1.0f))); }, Code::InvalidArgument, "three-dimensional");
}

TEST(Image, SizesMayBeTensors) {
  Graph g;
  Output x = g.constant(ramp({4, 4, 1})), height = g.placeholder(int32, Shape{}), width = g.placeholder(int32, Shape{});
  Output y = resize_with_crop_or_pad(x, height, width);
  Session session(g);
  expect_same(session.run({y}, {{height, 2}, {width, 2}}), Tensor::from<float>({5, 6, 9, 10}, {2, 2, 1}));
  EXPECT_THROW(session.run({y}, {{height, 0}, {width, 2}}), Error);
}

TEST(Image, ResizesByMethod) {
  const Tensor picture = ramp({2, 2, 1}, 1);
  for (ResizeMethod method :
       {ResizeMethod::Bilinear, ResizeMethod::NearestNeighbor, ResizeMethod::Bicubic, ResizeMethod::Area}) {
    Graph g;
    Output y = resize(g.constant(picture), {4, 6}, {.method = method});
    EXPECT_EQ(y.shape(), (Shape{4, 6, 1}));
    EXPECT_EQ(Session(g).run({y}).shape(), (Shape{4, 6, 1}));
  }
  Graph g;
  Output x = g.constant(picture);
  EXPECT_EQ(resize(x, {2, 2}).op().type(), "Squeeze");  // nothing to do but undo the batch
  EXPECT_EQ(Session(g).run({resize(x, {9, 4}, {.preserve_aspect_ratio = true})}).shape(), (Shape{4, 4, 1}));
  Output padded = resize_with_pad(x, 4, 8);
  EXPECT_EQ(padded.shape(), (Shape{4, 8, 1}));
  const Tensor pixels = Session(g).run({padded});
  EXPECT_EQ(pixels.data<float>()[0], 0);
  EXPECT_EQ(pixels.data<float>()[2], 1);
  expect_error([&] { resize(x, {1, 2, 3}); }, Code::InvalidArgument, "2 elements");
}

TEST(Image, ConvertsTypesByTheirRanges) {
  auto convert = [](const Tensor& from, DType to, bool saturate) {
    Graph g;
    return Session(g).run({convert_image_dtype(g.constant(from), to, {.saturate = saturate})});
  };
  const Tensor bytes = Tensor(std::vector<uint8_t>{0, 51, 255});
  expect_near(convert(bytes, float32, false), Tensor(std::vector<float>{0, 0.2f, 1}), 1e-6);
  expect_same(convert(Tensor(std::vector<float>{0, 0.2f, 1}), uint8, false), bytes);
  expect_same(convert(Tensor(std::vector<float>{-1, 0.2f, 7}), uint8, true), bytes);
  expect_same(convert(bytes, uint16, false), Tensor(std::vector<uint16_t>{0, 51 * 256, 255 * 256}));
  expect_same(convert(Tensor(std::vector<uint16_t>{0, 300, 65535}), uint8, false),
              Tensor(std::vector<uint8_t>{0, 1, 255}));
  Graph g;
  expect_error([&] { convert_image_dtype(g.constant(bytes), string); }, Code::InvalidArgument,
               "floating point or integer");
}

TEST(Image, AdjustsBrightnessContrastAndGamma) {
  const Tensor picture = Tensor::from<uint8_t>({0, 100, 200, 255}, {2, 2, 1});
  expect_same(both(picture, [](Output x) { return adjust_brightness(x, 0.2); }),
              Tensor::from<uint8_t>({51, 151, 251, 255}, {2, 2, 1}));
  expect_near(both(Tensor::from<float>({1, 2, 3, 6}, {2, 2, 1}), [](Output x) { return adjust_contrast(x, 2.0f); }),
              Tensor::from<float>({-1, 1, 3, 9}, {2, 2, 1}), 1e-6);
  expect_near(both(Tensor::from<float>({0, 0.5f, 1, 0.25f}, {2, 2, 1}), [](Output x) { return adjust_gamma(x, 2, 3); }),
              Tensor::from<float>({0, 0.75f, 3, 0.1875f}, {2, 2, 1}), 1e-6);
  const Tensor standard =
      both(Tensor::from<float>({1, 2, 3, 6}, {2, 2, 1}), [](Output x) { return per_image_standardization(x); });
  expect_near(standard, Tensor::from<float>({-1.069045f, -0.534522f, 0, 1.603567f}, {2, 2, 1}), 1e-5);
  const Tensor flat =
      both(Tensor::from<float>({5, 5, 5, 5}, {2, 2, 1}), [](Output x) { return per_image_standardization(x); });
  expect_near(flat, Tensor::zeros(float32, {2, 2, 1}), 1e-6);
}

TEST(Image, GreyAndColours) {
  expect_near(both(Tensor::from<float>({1, 0, 0, 1, 1, 1}, {1, 2, 3}), [](Output x) { return rgb_to_grayscale(x); }),
              Tensor::from<float>({0.2989f, 0.9999f}, {1, 2, 1}), 1e-6);
  expect_same(both(Tensor::from<float>({3, 4}, {1, 2, 1}), [](Output x) { return grayscale_to_rgb(x); }),
              Tensor::from<float>({3, 3, 3, 4, 4, 4}, {1, 2, 3}));
  Graph g;
  Output x = g.constant(ramp({1, 2, 3}, 0.1, 0.1));
  Session session(g);
  expect_near(session.run({yiq_to_rgb(rgb_to_yiq(x))}), ramp({1, 2, 3}, 0.1, 0.1), 1e-4);
  expect_near(session.run({yuv_to_rgb(rgb_to_yuv(x))}), ramp({1, 2, 3}, 0.1, 0.1), 1e-4);
  expect_error([&] { grayscale_to_rgb(x); }, Code::InvalidArgument, "size 1");
}

TEST(Image, RandomFormsRepeatWithTheirSeeds) {
  const std::vector<std::function<Output(const Output&)>> functions = {
      [](const Output& x) { return random_flip_left_right(x, {.seed = 3}); },
      [](const Output& x) { return random_flip_up_down(x, {.seed = 3}); },
      [](const Output& x) { return random_brightness(x, 0.5f, {.seed = 3}); },
      [](const Output& x) { return random_contrast(x, 0.1f, 2, {.seed = 3}); },
      [](const Output& x) { return random_saturation(x, 0.1f, 2, {.seed = 3}); },
      [](const Output& x) { return random_hue(x, 0.5f, {.seed = 3}); }};
  for (const auto& function : functions) {
    auto runs = [&] {
      Graph g;
      Output y = function(g.constant(ramp({2, 3, 3}, 0.01, 0.05)));
      Session session(g);
      std::vector<Tensor> results;
      for (int i = 0; i < 8; ++i) results.push_back(session.run({y}).copy());
      return results;
    };
    const auto first = runs(), second = runs();
    bool differ = false;
    for (size_t i = 0; i < first.size(); ++i) {
      expect_same(first[i], second[i]);
      const auto a = first[i].data<float>(), b = first[0].data<float>();
      differ |= !std::equal(a.begin(), a.end(), b.begin());
    }
    EXPECT_TRUE(differ);
  }
  Graph g;
  Output x = g.constant(ramp({2, 3, 3}));
  expect_error([&] { random_contrast(x, 2, 1); }, Code::InvalidArgument, "upper must be > lower");
  expect_error([&] { random_hue(x, 0.7f); }, Code::InvalidArgument, "max_delta must be <= 0.5");
}

TEST(Image, DecodesWhateverItIs) {
  Graph g;
  Output file = g.placeholder(string, Shape{});
  Output picture = decode_image(file);
  Output grey = decode_image(file, {.channels = 1, .dtype = float32});
  Session session(g);
  const Tensor pixels = testing::converted(testing::ramp({3, 4, 3}), uint8);
  expect_same(session.run({picture}, {{file, Tensor(weir::encode_png(pixels))}}), pixels);
  EXPECT_EQ(session.run({picture}, {{file, Tensor(weir::encode_jpeg(pixels))}}).shape(), (Shape{3, 4, 3}));
  EXPECT_EQ(session.run({grey}, {{file, Tensor(weir::encode_jpeg(pixels))}}).dtype(), float32);
  expect_error(
      [&] {
        session.run({picture}, {{file, Tensor("no picture at all")}});
      },
      Code::InvalidArgument, "Unable to decode bytes as JPEG, PNG, GIF, or BMP");
}

TEST(Image, MeasuresDifferences) {
  Graph g;
  Output x = g.constant(ramp({1, 16, 16, 1}, 0, 1.0 / 256)), y = x * 0.5;
  Session session(g);
  EXPECT_NEAR(session.run({ssim(x, x, 1.0)}).data<float>()[0], 1, 1e-5);
  EXPECT_LT(session.run({ssim(x, y, 1.0)}).data<float>()[0], 0.9f);
  // The mean of squares of k / 512.
  EXPECT_NEAR(session.run({psnr(x, y, 1.0)}).data<float>()[0], 10.8169, 1e-3);
  EXPECT_NEAR(session.run({total_variation(x)}).data<float>()[0], 16 * 15 * (1.0 / 256 + 16.0 / 256), 1e-4);
  const auto [dy, dx] = image_gradients(x);
  const auto differences = session.run({dy, dx});
  EXPECT_FLOAT_EQ(differences[0].data<float>()[0], 16.0f / 256);
  EXPECT_FLOAT_EQ(differences[1].data<float>()[15], 0);
  const Tensor edges = session.run({sobel_edges(x)});
  EXPECT_EQ(edges.shape(), (Shape{1, 16, 16, 1, 2}));
  EXPECT_NEAR(edges.data<float>()[(16 + 1) * 2], 8 * 16.0 / 256, 1e-5);
  EXPECT_NEAR(edges.data<float>()[(16 + 1) * 2 + 1], 8 * 1.0 / 256, 1e-5);
  expect_error([&] { ssim(x, g.constant(ramp({1, 16, 15, 1})), 1.0); }, Code::InvalidArgument, "incompatible");
}

}  // namespace
}  // namespace weir::image
