#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/gradients.h"
#include "weir/image_ops.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::ops {
namespace {

using testing::BadInput;
using testing::check_op;
using testing::scattered;
using testing::Tensors;

const In kImage = {{{{1}, {2}}, {{3}, {4}}}};  // [1, 2, 2, 1]

Tensor picture(std::initializer_list<double> values, const Shape& shape) { return Tensor::from<double>(values, shape); }

const std::vector<BadInput> kBadSizes = {{.inputs = {kImage, {0, 2}}, .message = "output dimensions must be positive"},
                                         {.inputs = {kImage, {2}}, .message = "two elements"},
                                         {.inputs = {{{1, 2}}, {2, 2}}, .message = "rank 4"}};

TEST(ResizeBilinear, LiesBetweenPixels) {
  check_op({.op = "ResizeBilinear",
            .inputs = {kImage, {4, 4}},
            .outputs = {picture({1, 1.5, 2, 2, 2, 2.5, 3, 3, 3, 3.5, 4, 4, 3, 3.5, 4, 4}, {1, 4, 4, 1})},
            .gradient = false,
            .bad = kBadSizes});
}

TEST(ResizeBilinear, CornersAndCentresAreConventions) {
  check_op({.op = "ResizeBilinear",
            .inputs = {kImage, {3, 3}},
            .attrs = {{"align_corners", true}},
            .outputs = {picture({1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4}, {1, 3, 3, 1})},
            .gradient = false,
            .bad = {{.inputs = {kImage, {3, 3}},
                     .attrs = {{"half_pixel_centers", true}},
                     .message = "align_corners must be False"}}});
  check_op({.op = "ResizeBilinear",
            .inputs = {kImage, {1, 4}},
            .attrs = {{"half_pixel_centers", true}},
            .outputs = {picture({2, 2.25, 2.75, 3}, {1, 1, 4, 1})},
            .gradient = false});
}

TEST(ResizeBilinear, ChannelsAreIndependent) {
  for (int64_t channels : {1, 2, 3, 4, 7}) {
    const Tensor image = scattered({2, 5, 4, channels});
    check_op({.op = "ResizeBilinear",
              .inputs = {image, {7, 3}},
              .reference =
                  [channels](const Tensors& in) {
                    Tensor out(float64, {2, 7, 3, channels});
                    auto pixel = [&](int64_t i, int64_t y, int64_t x, int64_t c) {
                      return in[0].data<double>()[static_cast<size_t>(((i * 5 + y) * 4 + x) * channels + c)];
                    };
                    double* to = out.mutable_data<double>();
                    for (int64_t i = 0; i < 2; ++i) {
                      for (int64_t y = 0; y < 7; ++y) {
                        for (int64_t x = 0; x < 3; ++x) {
                          for (int64_t c = 0; c < channels; ++c) {
                            const double at_y = static_cast<double>(y) * 5 / 7, at_x = static_cast<double>(x) * 4 / 3;
                            const auto top = static_cast<int64_t>(at_y), left = static_cast<int64_t>(at_x);
                            const int64_t bottom = std::min<int64_t>(top + 1, 4),
                                          right = std::min<int64_t>(left + 1, 3);
                            const double fy = at_y - static_cast<double>(top), fx = at_x - static_cast<double>(left);
                            *to++ = (1 - fy) * ((1 - fx) * pixel(i, top, left, c) + fx * pixel(i, top, right, c)) +
                                    fy * ((1 - fx) * pixel(i, bottom, left, c) + fx * pixel(i, bottom, right, c));
                          }
                        }
                      }
                    }
                    return Tensors{out};
                  },
              .gradient = false});
  }
}

TEST(ResizeNearestNeighbor, CopiesPixels) {
  check_op({.op = "ResizeNearestNeighbor",
            .inputs = {kImage, {3, 4}},
            .outputs = {picture({1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4}, {1, 3, 4, 1})},
            .bad = kBadSizes});
  check_op({.op = "ResizeNearestNeighborGrad",
            .inputs = {{{{{1}, {2}, {3}}}}, {1, 2}},
            .outputs = {picture({3, 3}, {1, 1, 2, 1})}});
}

TEST(ResizeBicubic, PassesThroughPixelsAndRepeatsTheBorder) {
  check_op({.op = "ResizeBicubic",
            .inputs = {picture({1, 2, 4, 8}, {1, 1, 4, 1}), {1, 4}},
            .outputs = {picture({1, 2, 4, 8}, {1, 1, 4, 1})},
            .gradient = false,
            .bad = kBadSizes});
  // Halfway between 2 and 4: -0.09375 * (1 + 8) + 0.59375 * (2 + 4).
  check_op({.op = "ResizeBicubic",
            .inputs = {picture({1, 2, 4, 8}, {1, 1, 4, 1}), {1, 8}},
            .outputs = {picture({1, 1.3125, 2, 2.71875, 4, 6.1875, 8, 8.375}, {1, 1, 8, 1})},
            .gradient = false});
}

TEST(ResizeArea, IsTheMeanOfWhatAPixelCovers) {
  check_op({.op = "ResizeArea",
            .inputs = {picture({1, 2, 3, 4, 5, 6}, {1, 2, 3, 1}), {1, 2}},
            .outputs = {picture({17.0 / 6, 25.0 / 6}, {1, 1, 2, 1})},
            .bad = kBadSizes});
}

TEST(ScaleAndTranslate, MovesAndStretches) {
  check_op({.op = "ScaleAndTranslate",
            .inputs = {picture({1, 2, 4, 8}, {1, 1, 4, 1}), {1, 4}, {1, 1}, {0, 1}},
            .attrs = {{"kernel_type", "triangle"}},
            .outputs = {picture({0, 1, 2, 4}, {1, 1, 4, 1})},
            .gradient = false,
            .bad = {{.inputs = {kImage, {1, 4}, {0, 1}, {0, 1}}, .message = "Scale must be greater than zero"},
                    {.inputs = {kImage, {1, 4}, {1, 1}, {0, 1}},
                     .attrs = {{"kernel_type", "none"}},
                     .message = "Unrecognized kernel type"}}});
}

// A resize is linear: its gradient is the one that makes <resize(x), w> == <x, gradient(w)>.
TEST(Resize, GradientsAreTheAdjoints) {
  using Resize = std::function<Output(const Output&, const In&)>;
  const std::vector<std::pair<const char*, Resize>> resizes = {
      {"bilinear", [](const Output& x, const In& size) { return image::resize_bilinear(x, size); }},
      {"bilinear corners",
       [](const Output& x, const In& size) { return image::resize_bilinear(x, size, {.align_corners = true}); }},
      {"bilinear centres",
       [](const Output& x, const In& size) { return image::resize_bilinear(x, size, {.half_pixel_centers = true}); }},
      {"nearest", [](const Output& x, const In& size) { return image::resize_nearest_neighbor(x, size); }},
      {"bicubic", [](const Output& x, const In& size) { return image::resize_bicubic(x, size); }},
      {"bicubic centres",
       [](const Output& x, const In& size) { return image::resize_bicubic(x, size, {.half_pixel_centers = true}); }},
      {"lanczos", [](const Output& x, const In& size) {
         return image::scale_and_translate(x, size, {1.7f, 0.6f}, {0.3f, -0.2f});
       }}};
  for (const auto& [name, resize] : resizes) {
    for (auto [height, width] : {std::pair<int64_t, int64_t>{9, 2}, {3, 11}, {1, 1}}) {
      SCOPED_TRACE(name);
      Graph g;
      Output x = g.constant(testing::converted(scattered({2, 5, 6, 3}), float32));
      Output w = g.constant(testing::converted(scattered({2, height, width, 3}, -1, 1, 7), float32));
      Output y = resize(x, {height, width});
      Output x_grad = gradients({y}, {x}, {.grad_ys = {w}})[0].dense();
      Session session(g);
      const auto sums = session.run({reduce_sum(y * w), reduce_sum(x * x_grad)});
      EXPECT_NEAR(sums[0].scalar<float>(), sums[1].scalar<float>(), 1e-4);
    }
  }
}

}  // namespace
}  // namespace weir::ops
